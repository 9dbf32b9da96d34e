// Running sums and products along one axis of contiguous arrays [outer, n, inner].
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

/// The axis that is run along, and the extents before and after it.
struct ScanShape {
  std::int64_t outer;
  std::int64_t n;
  std::int64_t inner;
};

/// y_i = x_0 + … + x_i, in reverse x_i + … + x_(n-1). Accumulates in f64 (floats) or modulo 2^64.
template <class T>
void cumsum(const ScanShape& shape, bool reverse, const T* x, T* y);
/// y_i = x_0 * … * x_i.
template <class T>
void cumprod(const ScanShape& shape, const T* x, T* y);
/// y_i = b_i + a_i * y_(i-1), in reverse b_i + a_i * y_(i+1); outside the axis y is 0.
template <class T>
void recurrence(const ScanShape& shape, bool reverse, const T* a, const T* b, T* y);

}  // namespace gradzoo::kernels
