// Optimizer steps.
#include "core/kernels/update.h"

#include <cmath>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"

namespace gradzoo::kernels {
namespace {

constexpr std::int64_t kBlock = 8192;

template <class T>
GRADZOO_SIMD void sgd_block(std::int64_t n, const T* g, T* v, T* p, T lr, T momentum, T decay,
                            bool nesterov) {
  if (v == nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) p[i] -= lr * (g[i] + decay * p[i]);
    return;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T d = g[i] + decay * p[i];
    v[i] = momentum * v[i] + d;
    p[i] -= lr * (nesterov ? d + momentum * v[i] : v[i]);
  }
}

template <class T>
GRADZOO_SIMD void adam_block(std::int64_t n, const T* g, T* m, T* v, T* p, T beta1, T beta2, T eps,
                             T step_size, T variance_scale, T l2, T shrink) {
  const T rest1 = 1 - beta1, rest2 = 1 - beta2;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T old = p[i] * shrink;
    const T d = g[i] + l2 * old;
    m[i] = beta1 * m[i] + rest1 * d;
    v[i] = beta2 * v[i] + rest2 * d * d;
    p[i] = old - step_size * m[i] / (std::sqrt(v[i]) * variance_scale + eps);
  }
}

}  // namespace

template <class T>
void sgd(std::int64_t n, const T* g, T* v, T* p, const SgdRule& rule) {
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    sgd_block(end - begin, g + begin, v == nullptr ? v : v + begin, p + begin,
              static_cast<T>(rule.lr), static_cast<T>(rule.momentum),
              static_cast<T>(rule.weight_decay), rule.nesterov);
  });
}

template <class T>
void adam(std::int64_t n, const T* g, T* m, T* v, T* p, const AdamRule& rule) {
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    adam_block(end - begin, g + begin, m + begin, v + begin, p + begin, static_cast<T>(rule.beta1),
               static_cast<T>(rule.beta2), static_cast<T>(rule.eps), static_cast<T>(rule.step_size),
               static_cast<T>(rule.variance_scale), static_cast<T>(rule.l2),
               static_cast<T>(rule.shrink));
  });
}

#define INSTANTIATE(T)                                               \
  template void sgd(std::int64_t, const T*, T*, T*, const SgdRule&); \
  template void adam(std::int64_t, const T*, T*, T*, T*, const AdamRule&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
