// Cross-entropy over contiguous rows. The largest logit is subtracted before anything else, and
// kept apart from the logarithm of the sum: logits of 1e4 cost no digits.
#include "core/kernels/loss.h"

#include <cmath>

#include "core/kernels/rows.h"

namespace gradzoo::kernels {

// -(1 - s) log p[target] - s/k sum(log p), where -log p[i] = log_sum + (largest - x[i]). A part
// with weight 0 is left out: it may be infinite.
template <class T>
GRADZOO_INLINE T row_loss(const T* x, std::int64_t target, double smoothing, std::int64_t k,
                          T largest, T log_sum) {
  double loss = static_cast<double>(log_sum);
  if (smoothing < 1) loss += (1 - smoothing) * static_cast<double>(largest - x[target]);
  if (smoothing > 0) {
    double spread = 0;
#pragma omp simd reduction(+ : spread)
    for (std::int64_t i = 0; i < k; ++i) spread += static_cast<double>(largest - x[i]);
    loss += smoothing / static_cast<double>(k) * spread;
  }
  return static_cast<T>(loss);
}

template <class T>
GRADZOO_SIMD void cross_entropy_rows(const T* x, const ClassTargets& targets, std::int64_t begin,
                                     std::int64_t end, std::int64_t k, T* losses, T* stats) {
  for (std::int64_t r = begin; r < end; ++r) {
    const bool ignored = targets.ids[r] == targets.ignored;
    const T largest = ignored ? T(0) : row_max(x + r * k, k);
    const T log_sum = ignored ? T(0) : static_cast<T>(std::log(sum_exp(x + r * k, largest, k)));
    losses[r] = ignored
                    ? T(0)
                    : row_loss(x + r * k, targets.ids[r], targets.smoothing, k, largest, log_sum);
    stats[2 * r] = largest;
    stats[2 * r + 1] = log_sum;
  }
}

// dx = log(softmax(x)).
template <class T>
GRADZOO_SIMD void log_probabilities(const T* x, const T* stats, std::int64_t begin,
                                    std::int64_t end, std::int64_t k, T* dx) {
  for (std::int64_t r = begin; r < end; ++r) {
    const T largest = stats[2 * r];
    const T log_sum = stats[2 * r + 1];
#pragma omp simd
    for (std::int64_t i = r * k; i < (r + 1) * k; ++i) dx[i] = (x[i] - largest) - log_sum;
  }
}

// From dx = softmax(x) to the gradient.
template <class T>
GRADZOO_SIMD void subtract_targets(const ClassTargets& targets, const T* g, std::int64_t step,
                                   double scale, std::int64_t begin, std::int64_t end,
                                   std::int64_t k, T* dx) {
  const T at_target = static_cast<T>(1 - targets.smoothing);
  const T everywhere = static_cast<T>(targets.smoothing / static_cast<double>(k));
  for (std::int64_t r = begin; r < end; ++r) {
    T* const row = dx + r * k;
    if (targets.ids[r] == targets.ignored) {
      std::fill(row, row + k, T(0));
      continue;
    }
    const T factor = g[r * step] * static_cast<T>(scale);
    row[targets.ids[r]] -= at_target;
#pragma omp simd
    for (std::int64_t i = 0; i < k; ++i) row[i] = (row[i] - everywhere) * factor;
  }
}

template <class T>
void cross_entropy(const T* x, const ClassTargets& targets, std::int64_t rows, std::int64_t k,
                   T* losses, T* stats) {
  parallel_for(rows, block_rows(k), [&](std::int64_t begin, std::int64_t end) {
    cross_entropy_rows(x, targets, begin, end, k, losses, stats);
  });
}

template <class T>
void cross_entropy_backward(const T* x, const ClassTargets& targets, const T* stats, const T* g,
                            std::int64_t step, double scale, std::int64_t rows, std::int64_t k,
                            T* dx) {
  parallel_for(rows, block_rows(k), [&](std::int64_t begin, std::int64_t end) {
    log_probabilities(x, stats, begin, end, k, dx);
    exp_block(dx + begin * k, (end - begin) * k, dx + begin * k);
    subtract_targets(targets, g, step, scale, begin, end, k, dx);
  });
}

#define INSTANTIATE(T)                                                                            \
  template void cross_entropy(const T*, const ClassTargets&, std::int64_t, std::int64_t, T*, T*); \
  template void cross_entropy_backward(const T*, const ClassTargets&, const T*, const T*,         \
                                       std::int64_t, double, std::int64_t, std::int64_t, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
