// Optimizer steps. Rules are passed to the loops by value: behind a reference, a store to p could
// change them.
#include "core/kernels/update.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"

namespace gradzoo::kernels {
namespace {

constexpr std::int64_t kBlock = 8192;

template <class T>
T* from(T* array, std::int64_t begin) {
  return array == nullptr ? nullptr : array + begin;
}

template <class T>
GRADZOO_SIMD void sgd_block(std::int64_t n, const T* g, T* v, T* p, SgdRule<T> r) {
  if (v == nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) p[i] -= r.lr * (g[i] + r.l2 * p[i]);
    return;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T d = g[i] + r.l2 * p[i];
    v[i] = r.momentum * v[i] + r.fresh * d;
    p[i] -= r.lr * (r.nesterov ? d + r.momentum * v[i] : v[i]);
  }
}

template <class T>
GRADZOO_SIMD void adam_block(std::int64_t n, const T* g, T* m, T* v, T* p, AdamRule<T> r) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T old = p[i] * r.shrink;
    const T d = g[i] + r.l2 * old;
    m[i] = r.beta1 * m[i] + r.rest1 * d;
    v[i] = r.beta2 * v[i] + r.rest2 * d * d;
    p[i] = old - r.step_size * m[i] / (std::sqrt(v[i]) * r.variance_scale + r.eps);
  }
}

template <bool kCentered, bool kMomentum, class T>
GRADZOO_SIMD void rmsprop_block(std::int64_t n, const T* g, T* s, [[maybe_unused]] T* m,
                                [[maybe_unused]] T* v, T* p, RmsPropRule<T> r) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T d = g[i] + r.l2 * p[i];
    s[i] = r.alpha * s[i] + r.rest * d * d;
    T square = s[i];
    if constexpr (kCentered) {
      m[i] = r.alpha * m[i] + r.rest * d;
      // The variance of equal gradients is 0, and must not be a negative rounding error.
      square = std::max(square - m[i] * m[i], T(0));
    }
    T direction = d / (std::sqrt(square) + r.eps);
    if constexpr (kMomentum) {
      v[i] = r.momentum * v[i] + direction;
      direction = v[i];
    }
    p[i] -= r.lr * direction;
  }
}

template <class T>
GRADZOO_SIMD void adagrad_block(std::int64_t n, const T* g, T* s, T* p, AdagradRule<T> r) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T d = g[i] + r.l2 * p[i];
    s[i] += d * d;
    p[i] -= r.lr * d / (std::sqrt(s[i]) + r.eps);
  }
}

template <class T>
GRADZOO_SIMD void average_block(std::int64_t n, const T* p, T* a, T rest) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) a[i] += rest * (p[i] - a[i]);
}

}  // namespace

template <class T>
void sgd(std::int64_t n, const T* g, T* v, T* p, const SgdRule<T>& rule) {
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    sgd_block(end - begin, g + begin, from(v, begin), p + begin, rule);
  });
}

template <class T>
void adam(std::int64_t n, const T* g, T* m, T* v, T* p, const AdamRule<T>& rule) {
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    adam_block(end - begin, g + begin, m + begin, v + begin, p + begin, rule);
  });
}

template <class T>
void rmsprop(std::int64_t n, const T* g, T* s, T* m, T* v, T* p, const RmsPropRule<T>& rule) {
  const auto block =
      m == nullptr ? (v == nullptr ? rmsprop_block<false, false, T> : rmsprop_block<false, true, T>)
                   : (v == nullptr ? rmsprop_block<true, false, T> : rmsprop_block<true, true, T>);
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    block(end - begin, g + begin, s + begin, from(m, begin), from(v, begin), p + begin, rule);
  });
}

template <class T>
void adagrad(std::int64_t n, const T* g, T* s, T* p, const AdagradRule<T>& rule) {
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    adagrad_block(end - begin, g + begin, s + begin, p + begin, rule);
  });
}

template <class T>
void average(std::int64_t n, const T* p, T* a, T rest) {
  parallel_for(n, kBlock, [&](std::int64_t begin, std::int64_t end) {
    average_block(end - begin, p + begin, a + begin, rest);
  });
}

#define INSTANTIATE(T)                                                                  \
  template void sgd(std::int64_t, const T*, T*, T*, const SgdRule<T>&);                 \
  template void adam(std::int64_t, const T*, T*, T*, T*, const AdamRule<T>&);           \
  template void rmsprop(std::int64_t, const T*, T*, T*, T*, T*, const RmsPropRule<T>&); \
  template void adagrad(std::int64_t, const T*, T*, T*, const AdagradRule<T>&);         \
  template void average(std::int64_t, const T*, T*, T);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
