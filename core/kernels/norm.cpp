// Normalisation of contiguous rows. Numbers are counted from the first of their row before
// anything is added up: a mean of 1e4 with a spread of 1e-2 keeps its digits in f32, and a
// constant row is exactly 0. The variance is taken around the mean; sums are kept in double.
#include "core/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"

namespace gradzoo::kernels {

std::int64_t norm_block_rows(std::int64_t n) { return std::clamp<std::int64_t>(16384 / n, 16, 64); }

template <bool kCentered, class T>
GRADZOO_SIMD void normalize_rows(const T* x, const T* weight, const T* bias, double eps,
                                 std::int64_t rows, std::int64_t n, T* y, T* stats) {
  const double share = 1 / static_cast<double>(n);
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T first = kCentered ? x[0] : T(0);
    double sum = 0;
    if (kCentered) {
#pragma omp simd reduction(+ : sum)
      for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i] - first);
    }
    const T mean = static_cast<T>(sum * share);
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>((x[i] - first) - mean);
      squares += d * d;
    }
    const T scale = static_cast<T>(1 / std::sqrt(squares * share + eps));
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = ((x[i] - first) - mean) * scale * weight[i] + bias[i];
    }
    stats[2 * r] = mean;
    stats[2 * r + 1] = scale;
  }
}

// With z the normalised row and u = g weight:
//   dx = scale (u - mean(u) - z mean(u z)), dweight = sum over rows of g z, dbias of g.
template <bool kCentered, class T>
GRADZOO_SIMD void normalize_backward_rows(const T* x, const T* weight, const T* stats, const T* g,
                                          std::int64_t rows, std::int64_t n, T* dx, T* dweight,
                                          T* dbias) {
  const double share = 1 / static_cast<double>(n);
  std::fill(dweight, dweight + n, T(0));
  std::fill(dbias, dbias + n, T(0));
  for (std::int64_t r = 0; r < rows; ++r, x += n, g += n, dx += n) {
    const T first = kCentered ? x[0] : T(0);
    const T mean = stats[2 * r];
    const T scale = stats[2 * r + 1];
    double sum = 0;
    double dot = 0;
#pragma omp simd reduction(+ : sum, dot)
    for (std::int64_t i = 0; i < n; ++i) {
      const T z = ((x[i] - first) - mean) * scale;
      const T u = g[i] * weight[i];
      if (kCentered) sum += static_cast<double>(u);
      dot += static_cast<double>(u * z);
      dweight[i] += g[i] * z;
      dbias[i] += g[i];
    }
    const T mean_u = static_cast<T>(sum * share);
    const T mean_uz = static_cast<T>(dot * share);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      const T z = ((x[i] - first) - mean) * scale;
      dx[i] = scale * (g[i] * weight[i] - mean_u - z * mean_uz);
    }
  }
}

template <class T>
void normalize(bool centered, const T* x, const T* weight, const T* bias, double eps,
               std::int64_t rows, std::int64_t n, T* y, T* stats) {
  const auto run = centered ? normalize_rows<true, T> : normalize_rows<false, T>;
  parallel_for(rows, norm_block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    run(x + begin * n, weight, bias, eps, end - begin, n, y + begin * n, stats + 2 * begin);
  });
}

template <class T>
void normalize_backward(bool centered, const T* x, const T* weight, const T* stats, const T* g,
                        std::int64_t rows, std::int64_t n, T* dx, T* partial) {
  const auto run = centered ? normalize_backward_rows<true, T> : normalize_backward_rows<false, T>;
  const std::int64_t block = norm_block_rows(n);
  parallel_for(rows, block, [&](std::int64_t begin, std::int64_t end) {
    T* const dweight = partial + begin / block * 2 * n;
    run(x + begin * n, weight, stats + 2 * begin, g + begin * n, end - begin, n, dx + begin * n,
        dweight, dweight + n);
  });
}

#define INSTANTIATE(T)                                                                            \
  template void normalize(bool, const T*, const T*, const T*, double, std::int64_t, std::int64_t, \
                          T*, T*);                                                                \
  template void normalize_backward(bool, const T*, const T*, const T*, const T*, std::int64_t,    \
                                   std::int64_t, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
