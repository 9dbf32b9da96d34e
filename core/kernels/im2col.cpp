// Both directions go over runs. Where there are as many windows in a row as elements in a row of
// the plane, one beside the other, all runs are one: where it crosses the edge of the plane it
// meets elements of the next row instead of zeros, which is put right apart.
#include "core/kernels/im2col.h"

#include <algorithm>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/window_runs.h"

namespace gradzoo::kernels {
namespace {

constexpr std::int64_t kBlock = 16384;  // elements of the columns that one thread takes at a time

// Zeros in the columns beside the runs, in the rows that have any.
template <class T>
void clear_edges(const Windows& w, const Runs& runs, T* y) {
  const auto clear = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      for (std::int64_t r = runs.rows.begin; r < runs.rows.end; ++r) y[r * w.count[1] + c] = T(0);
    }
  };
  clear(0, runs.cols.begin);
  clear(runs.cols.end, w.count[1]);
}

}  // namespace

// number runs from x to y.
template <class T>
GRADZOO_SIMD void copy_runs(const Windows& w, std::int64_t number, std::int64_t length, const T* x,
                            T* y) {
  for (std::int64_t r = 0; r < number; ++r) {
    const T* const from = x + r * w.stride[0] * w.plane[1];
    T* const to = y + r * w.count[1];
    if (w.stride[1] == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < length; ++i) to[i] = from[i];
    } else if (w.stride[1] == 2) {
#pragma omp simd
      for (std::int64_t i = 0; i < length; ++i) to[i] = from[2 * i];
    } else {
      for (std::int64_t i = 0; i < length; ++i) to[i] = from[i * w.stride[1]];
    }
  }
}

// number runs of y added to x.
template <class T>
GRADZOO_SIMD void add_runs(const Windows& w, std::int64_t number, std::int64_t length, const T* y,
                           T* x) {
  for (std::int64_t r = 0; r < number; ++r) {
    const T* const from = y + r * w.count[1];
    T* const to = x + r * w.stride[0] * w.plane[1];
    if (w.stride[1] == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < length; ++i) to[i] += from[i];
    } else {
      for (std::int64_t i = 0; i < length; ++i) to[i * w.stride[1]] += from[i];
    }
  }
}

namespace {

// One row of the columns: one element of the kernel, in all windows of one plane.
template <class T>
void unfold_row(const Windows& w, std::int64_t element, const T* x, T* y) {
  const Runs runs(w, element);
  const std::int64_t width = w.count[1];
  if (runs.empty()) {
    std::fill(y, y + product(w.count), T(0));
    return;
  }
  std::fill(y, y + runs.rows.begin * width, T(0));
  if (runs.one) {
    std::copy(x + runs.plane, x + runs.plane + runs.whole(w), y + runs.column);
  } else {
    copy_runs(w, runs.number, runs.length, x + runs.plane, y + runs.column);
  }
  clear_edges(w, runs, y);
  std::fill(y + runs.rows.end * width, y + product(w.count), T(0));
}

template <class T>
void fold_row(const Windows& w, std::int64_t element, const T* y, T* x) {
  const Runs runs(w, element);
  if (!runs.empty()) add_runs(w, runs.number, runs.length, y + runs.column, x + runs.plane);
}

}  // namespace

Windows part_of(Windows w, std::int64_t begin, std::int64_t end) {
  const std::size_t axis = w.count[0] > 1 ? 0 : 1;
  w.count[axis] = end - begin;
  w.padding[axis] -= begin * w.stride[axis];
  return w;
}

template <class T>
void unfold_here(const Windows& w, const T* x, T* y) {
  const std::int64_t elements = product(w.kernel), row = product(w.count);
  for (std::int64_t i = 0; i < w.planes * elements; ++i) {
    unfold_row(w, i % elements, x + i / elements * product(w.plane), y + i * row);
  }
}

template <class T>
void fold_here(const Windows& w, T* y, T* x) {
  const std::int64_t elements = product(w.kernel), row = product(w.count);
  for (std::int64_t i = 0; i < w.planes * elements; ++i) {
    T* const plane = x + i / elements * product(w.plane);
    const Runs runs(w, i % elements);
    if (!runs.one || runs.empty()) {
      fold_row(w, i % elements, y + i * row, plane);
      continue;
    }
    clear_edges(w, runs, y + i * row);
    add_runs(w, 1, runs.whole(w), y + i * row + runs.column, plane + runs.plane);
  }
}

template <class T>
void unfold(const Windows& w, const T* x, T* y) {
  const std::int64_t elements = product(w.kernel), row = product(w.count);
  const std::int64_t block = std::max<std::int64_t>(kBlock / std::max<std::int64_t>(row, 1), 1);
  parallel_for(w.planes * elements, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      unfold_row(w, i % elements, x + i / elements * product(w.plane), y + i * row);
    }
  });
}

template <class T>
void fold(const Windows& w, const T* y, T* x) {
  const std::int64_t elements = product(w.kernel), row = product(w.count);
  const std::int64_t size = product(w.plane);
  const std::int64_t work = std::max<std::int64_t>(elements * row + size, 1);
  const std::int64_t block = std::max<std::int64_t>(kBlock / work, 1);
  parallel_for(w.planes, block, [&](std::int64_t begin, std::int64_t end) {
    std::fill(x + begin * size, x + end * size, T(0));
    for (std::int64_t i = begin * elements; i < end * elements; ++i) {
      fold_row(w, i % elements, y + i * row, x + i / elements * size);
    }
  });
}

#define INSTANTIATE(T)                                     \
  template void unfold_here(const Windows&, const T*, T*); \
  template void fold_here(const Windows&, T*, T*);         \
  template void unfold(const Windows&, const T*, T*);      \
  template void fold(const Windows&, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
