// What kernels over contiguous rows of n numbers have in common. Included by .cpp files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {

/// exp(-inf) is 0: the value of places that are left out.
template <class T>
inline constexpr T kNothing = -std::numeric_limits<T>::infinity();

/// Rows of one block: about 4096 numbers, which stay in the first-level cache from pass to pass.
inline std::int64_t block_rows(std::int64_t n) {
  return std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(n, 1));
}

/// The largest number, NaN left out; -inf for none.
template <class T>
GRADZOO_INLINE T row_max(const T* x, std::int64_t n) {
  T most = kNothing<T>;
#pragma omp simd reduction(max : most)
  for (std::int64_t i = 0; i < n; ++i) most = most < x[i] ? x[i] : most;
  return most;
}

/// y = exp(x), for a whole block of rows at once: rows are often shorter than a vector register.
template <class T>
GRADZOO_SIMD void exp_block(const T* x, std::int64_t n, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = math::exp(x[i]);
}

/// The sum of exp(x - shift), in double.
template <class T>
GRADZOO_INLINE double sum_exp(const T* x, T shift, std::int64_t n) {
  constexpr std::int64_t kChunk = 256;
  T e[kChunk];
  double sum = 0;
  for (std::int64_t begin = 0; begin < n; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, n - begin);
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) e[i] = math::exp(x[begin + i] - shift);
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(e[i]);
  }
  return sum;
}

}  // namespace gradzoo::kernels
