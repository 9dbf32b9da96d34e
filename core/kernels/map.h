// Elementwise loops over strided arrays: y = f(x), f(a, b) and f(a, b, c). Included by the kernels'
// .cpp files only, which instantiate them for each op.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/strided.h"

namespace gradzoo::kernels {

// The lambdas passed in are inlined whatever their size: a call would end the vectorisation.
#define GRADZOO_MAP GRADZOO_SIMD __attribute__((flatten))

/// Elements of one block of an elementwise kernel; fewer run on the calling thread.
inline constexpr std::int64_t kMapBlock = 16384;

/// T with an overflow that wraps: the unsigned type for integers, T itself for floats.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

template <class X, class Y, class F>
GRADZOO_MAP void map_run(const X* x, std::int64_t dx, Y* y, std::int64_t dy, std::int64_t n, F f) {
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

template <class A, class B, class Y, class F>
GRADZOO_MAP void map_run(const A* a, std::int64_t da, const B* b, std::int64_t db, Y* y,
                         std::int64_t dy, std::int64_t n, F f) {
  if (dy == 1 && da == 1 && db == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  } else if (dy == 1 && da == 1 && db == 0) {
    const B right = *b;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], right);
  } else if (dy == 1 && da == 0 && db == 1) {
    const A left = *a;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(left, b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i * dy] = f(a[i * da], b[i * db]);
  }
}

/// y = f(a, b); array 0 of the walk is y, then a and b.
template <class A, class B, class Y, class F>
void map(const Walk<3>& walk, const A* a, const B* b, Y* y, F f) {
  parallel_for(walk.numel, kMapBlock, [&](std::int64_t begin, std::int64_t end) {
    for_each_run(walk, begin, end, [&](const auto& at, std::int64_t n) {
      map_run(a + at[1], walk.inner_stride(1), b + at[2], walk.inner_stride(2), y + at[0],
              walk.inner_stride(0), n, f);
    });
  });
}

template <class A, class B, class C, class Y, class F>
GRADZOO_MAP void map_run(const A* a, std::int64_t da, const B* b, std::int64_t db, const C* c,
                         std::int64_t dc, Y* y, std::int64_t dy, std::int64_t n, F f) {
  if (dy == 1 && da == 1 && db == 1 && dc == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i], c[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i * dy] = f(a[i * da], b[i * db], c[i * dc]);
  }
}

/// y = f(a, b, c); array 0 of the walk is y, then a, b and c.
template <class A, class B, class C, class Y, class F>
void map(const Walk<4>& walk, const A* a, const B* b, const C* c, Y* y, F f) {
  parallel_for(walk.numel, kMapBlock, [&](std::int64_t begin, std::int64_t end) {
    for_each_run(walk, begin, end, [&](const auto& at, std::int64_t n) {
      map_run(a + at[1], walk.inner_stride(1), b + at[2], walk.inner_stride(2), c + at[3],
              walk.inner_stride(3), y + at[0], walk.inner_stride(0), n, f);
    });
  });
}

}  // namespace gradzoo::kernels
