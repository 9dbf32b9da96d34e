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

/// b unless a is at least as large; a if b is NaN.
template <class T>
GRADZOO_INLINE T larger(T a, T b) {
  return a < b ? b : a;
}

/// The largest number, NaN left out; -inf for none. The end of a row is read in a step that
/// overlaps the one before it, for which a maximum does not care: one by one it would cost more
/// than all of a short row.
template <class T>
GRADZOO_INLINE T row_max(const T* x, std::int64_t n) {
  T most = kNothing<T>;
  if (n < 16) {
    T other = most;
    for (std::int64_t i = 0; i + 1 < n; i += 2) {
      most = larger(most, x[i]);
      other = larger(other, x[i + 1]);
    }
    return larger(n > 0 ? larger(most, x[n - 1]) : most, other);
  }
#pragma omp simd reduction(max : most)
  for (std::int64_t i = 0; i < n / 16 * 16; ++i) most = larger(most, x[i]);
#pragma omp simd reduction(max : most)
  for (std::int64_t i = n - 16; i < n; ++i) most = larger(most, x[i]);
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
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(math::exp(x[i] - shift));
  return sum;
}

}  // namespace gradzoo::kernels
