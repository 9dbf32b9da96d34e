// Cross-entropy over contiguous rows of k logits.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

/// What the loss of a row is: targets in [0, k), or `ignored`; `smoothing` of the target is spread
/// over all k classes.
struct ClassTargets {
  const std::int64_t* ids = nullptr;
  std::int64_t ignored = 0;
  double smoothing = 0;
};

/// losses [rows], 0 where ignored. stats [rows, 2] is kept for backward: the largest logit of each
/// row, and the logarithm of the sum of exp(x - largest).
template <class T>
void cross_entropy(const T* x, const ClassTargets& targets, std::int64_t rows, std::int64_t k,
                   T* losses, T* stats);

/// dx = (softmax(x) - target distribution) * g * scale, 0 where ignored. The gradient of row r is
/// g[r * step]: step 0 is one for all.
template <class T>
void cross_entropy_backward(const T* x, const ClassTargets& targets, const T* stats, const T* g,
                            std::int64_t step, double scale, std::int64_t rows, std::int64_t k,
                            T* dx);

}  // namespace gradzoo::kernels
