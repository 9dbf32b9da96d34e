// One pass over a parameter, its gradient and its state, all arrays of n numbers.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

struct SgdRule {
  double lr, momentum, weight_decay;
  bool nesterov;
};

/// g += weight_decay p; v = momentum v + g; p -= lr v (nesterov: lr (g + momentum v)). v may be
/// null when momentum is 0.
template <class T>
void sgd(std::int64_t n, const T* g, T* v, T* p, const SgdRule& rule);

struct AdamRule {
  double beta1, beta2, eps;
  double step_size;       ///< lr / (1 - beta1^t)
  double variance_scale;  ///< 1 / sqrt(1 - beta2^t)
  double l2;              ///< added to the gradient, times p
  double shrink;          ///< p is multiplied by it first
};

/// p *= shrink; g += l2 p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// p -= step_size m / (sqrt(v) variance_scale + eps).
template <class T>
void adam(std::int64_t n, const T* g, T* m, T* v, T* p, const AdamRule& rule);

}  // namespace gradzoo::kernels
