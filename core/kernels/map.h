// Elementwise loops over strided arrays: y = f(x) and y = f(a, b). Included by the kernels' .cpp
// files only, which instantiate them for each op.
#pragma once

#include <cstdint>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// Elements of one block of an elementwise kernel; fewer run on the calling thread.
inline constexpr std::int64_t kMapBlock = 16384;

template <class X, class Y, class F>
GRADZOO_SIMD void map_run(const X* x, std::int64_t dx, Y* y, std::int64_t dy, std::int64_t n, F f) {
  if (dx == 1 && dy == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i * dy] = f(x[i * dx]);
  }
}

/// y = f(x); array 0 of the walk is y, array 1 is x.
template <class X, class Y, class F>
void map(const Walk<2>& walk, const X* x, Y* y, F f) {
  parallel_for(walk.numel, kMapBlock, [&](std::int64_t begin, std::int64_t end) {
    for_each_run(walk, begin, end, [&](const auto& at, std::int64_t n) {
      map_run(x + at[1], walk.inner_stride(1), y + at[0], walk.inner_stride(0), n, f);
    });
  });
}

template <class X, class Y, class F>
GRADZOO_SIMD void map_run(const X* a, std::int64_t da, const X* b, std::int64_t db, Y* y,
                          std::int64_t dy, std::int64_t n, F f) {
  if (dy == 1 && da == 1 && db == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  } else if (dy == 1 && da == 1 && db == 0) {
    const X right = *b;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], right);
  } else if (dy == 1 && da == 0 && db == 1) {
    const X left = *a;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(left, b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i * dy] = f(a[i * da], b[i * db]);
  }
}

/// y = f(a, b); array 0 of the walk is y, then a and b.
template <class X, class Y, class F>
void map(const Walk<3>& walk, const X* a, const X* b, Y* y, F f) {
  parallel_for(walk.numel, kMapBlock, [&](std::int64_t begin, std::int64_t end) {
    for_each_run(walk, begin, end, [&](const auto& at, std::int64_t n) {
      map_run(a + at[1], walk.inner_stride(1), b + at[2], walk.inner_stride(2), y + at[0],
              walk.inner_stride(0), n, f);
    });
  });
}

}  // namespace gradzoo::kernels
