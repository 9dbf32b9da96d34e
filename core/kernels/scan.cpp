// Running sums and products along one axis of contiguous arrays.
#include "core/kernels/scan.h"

#include <algorithm>
#include <type_traits>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"

namespace gradzoo::kernels {
namespace {

constexpr std::int64_t kScanTile = 64;      // neighbouring columns that run together
constexpr std::int64_t kScanBlock = 32768;  // elements below which it stays on one thread

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// `width` columns from the element at `first` on: y = step(running value, position), n times.
template <class T, class Step>
GRADZOO_SIMD void scan_tile(const ScanShape& shape, bool reverse, std::int64_t first,
                            std::int64_t width, Wide<T> start, T* y, const Step step) {
  if (width == 1) {
    for (std::int64_t i = 0; i < shape.n; ++i) {
      const std::int64_t row = first + (reverse ? shape.n - 1 - i : i) * shape.inner;
      start = step(start, row);
      y[row] = static_cast<T>(start);
    }
    return;
  }
  Wide<T> running[kScanTile];
  std::fill(running, running + width, start);
  for (std::int64_t i = 0; i < shape.n; ++i) {
    const std::int64_t row = first + (reverse ? shape.n - 1 - i : i) * shape.inner;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) {
      running[k] = step(running[k], row + k);
      y[row + k] = static_cast<T>(running[k]);
    }
  }
}

template <class T, class Step>
void scan(const ScanShape& shape, bool reverse, Wide<T> start, T* y, const Step& step) {
  const std::int64_t tiles = (shape.inner + kScanTile - 1) / kScanTile;
  const std::int64_t work = shape.n * std::min(shape.inner, kScanTile);
  if (work == 0) return;
  const std::int64_t block = std::max<std::int64_t>(1, kScanBlock / work);
  parallel_for(shape.outer * tiles, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t column = task % tiles * kScanTile;
      const std::int64_t first = task / tiles * shape.n * shape.inner + column;
      scan_tile(shape, reverse, first, std::min(kScanTile, shape.inner - column), start, y, step);
    }
  });
}

}  // namespace

template <class T>
void cumsum(const ScanShape& shape, bool reverse, const T* x, T* y) {
  scan(shape, reverse, 0, y,
       [x](Wide<T> sum, std::int64_t i) { return sum + static_cast<Wide<T>>(x[i]); });
}

template <class T>
void cumprod(const ScanShape& shape, const T* x, T* y) {
  scan(shape, false, 1, y,
       [x](Wide<T> product, std::int64_t i) { return product * static_cast<Wide<T>>(x[i]); });
}

template <class T>
void recurrence(const ScanShape& shape, bool reverse, const T* a, const T* b, T* y) {
  scan(shape, reverse, 0, y, [a, b](double last, std::int64_t i) {
    return static_cast<double>(b[i]) + static_cast<double>(a[i]) * last;
  });
}

template void cumsum(const ScanShape&, bool, const float*, float*);
template void cumsum(const ScanShape&, bool, const double*, double*);
template void cumsum(const ScanShape&, bool, const std::int64_t*, std::int64_t*);
template void cumprod(const ScanShape&, const float*, float*);
template void cumprod(const ScanShape&, const double*, double*);
template void cumprod(const ScanShape&, const std::int64_t*, std::int64_t*);
template void recurrence(const ScanShape&, bool, const float*, const float*, float*);
template void recurrence(const ScanShape&, bool, const double*, const double*, double*);

}  // namespace gradzoo::kernels
