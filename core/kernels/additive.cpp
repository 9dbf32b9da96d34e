// Additive comparison of all pairs. A pair's tanh is computed where it is used, and again backward.
#include "core/kernels/additive.h"

#include <algorithm>

#include "core/kernels/parallel.h"
#include "core/kernels/rows.h"
#include "core/kernels/simd.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {

// One query with all keys of its row.
template <class T>
GRADZOO_SIMD void compare_with_keys(const T* query, const T* keys, const T* v, std::int64_t count,
                                    std::int64_t n, T* y) {
  for (std::int64_t k = 0; k < count; ++k, keys += n) {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += v[i] * math::tanh(query[i] + keys[i]);
    y[k] = sum;
  }
}

// One row of the batch: all its queries with all its keys. Pairs without gradient, such as those
// with padding, cost nothing.
template <class T>
GRADZOO_SIMD void compare_backward(const T* query, const T* keys, const T* v, const T* dy,
                                   const PairSizes& s, T* dquery, T* dkeys, T* dv) {
  for (std::int64_t q = 0; q < s.queries; ++q, query += s.n, dquery += s.n) {
    for (std::int64_t k = 0; k < s.keys; ++k, ++dy) {
      const T g = *dy;
      if (g == 0) continue;
      const T* key = keys + k * s.n;
      T* dkey = dkeys + k * s.n;
#pragma omp simd
      for (std::int64_t i = 0; i < s.n; ++i) {
        const T t = math::tanh(query[i] + key[i]);
        const T dpair = g * (1 - t * t) * v[i];
        dquery[i] += dpair;
        dkey[i] += dpair;
        dv[i] += g * t;
      }
    }
  }
}

template <class T>
void additive_scores(const T* query, const T* keys, const T* v, const PairSizes& s, T* y) {
  parallel_for(s.batch * s.queries, block_rows(s.keys * s.n),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   compare_with_keys(query + row * s.n, keys + row / s.queries * s.keys * s.n, v,
                                     s.keys, s.n, y + row * s.keys);
                 }
               });
}

template <class T>
void additive_scores_backward(const T* query, const T* keys, const T* v, const T* dy,
                              const PairSizes& s, T* dquery, T* dkeys, T* dv) {
  const std::int64_t queries = s.queries * s.n, all_keys = s.keys * s.n;
  parallel_for(
      s.batch, block_rows(s.queries * all_keys), [&](std::int64_t begin, std::int64_t end) {
        std::fill(dquery + begin * queries, dquery + end * queries, T(0));
        std::fill(dkeys + begin * all_keys, dkeys + end * all_keys, T(0));
        std::fill(dv + begin * s.n, dv + end * s.n, T(0));
        for (std::int64_t b = begin; b < end; ++b) {
          compare_backward(query + b * queries, keys + b * all_keys, v, dy + b * s.queries * s.keys,
                           s, dquery + b * queries, dkeys + b * all_keys, dv + b * s.n);
        }
      });
}

#define INSTANTIATE(T)                                                                             \
  template void additive_scores(const T*, const T*, const T*, const PairSizes&, T*);               \
  template void additive_scores_backward(const T*, const T*, const T*, const T*, const PairSizes&, \
                                         T*, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
