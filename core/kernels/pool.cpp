// The maximum goes over runs, one element of the kernel after the other; looking for it again goes
// window by window.
#include "core/kernels/pool.h"

#include <algorithm>
#include <limits>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/window_runs.h"

namespace gradzoo::kernels {

// y = max(y, x) over runs; NaN is the largest.
template <class T>
GRADZOO_SIMD void raise_to(const Windows& w, const Runs& runs, const T* x, T* y) {
  const std::int64_t step = w.stride[1];
  for (std::int64_t r = 0; r < runs.number; ++r) {
    const T* const from = x + runs.plane + r * w.stride[0] * w.plane[1];
    T* const to = y + runs.column + r * w.count[1];
    if (step == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < runs.length; ++i) {
        const bool larger = (from[i] > to[i]) | (from[i] != from[i]);
        to[i] = larger ? from[i] : to[i];
      }
    } else {
      for (std::int64_t i = 0; i < runs.length; ++i) {
        const T value = from[i * step];
        to[i] = ((value > to[i]) | (value != value)) ? value : to[i];
      }
    }
  }
}

namespace {

constexpr std::int64_t kBlock = 65536;  // elements of windows that one thread takes at a time

// body(plane) for each plane, shared out.
template <class Body>
void for_each_plane(const Windows& w, const Body& body) {
  const std::int64_t work = product(w.kernel) * product(w.count) + product(w.plane);
  const std::int64_t block = std::max<std::int64_t>(kBlock / std::max<std::int64_t>(work, 1), 1);
  parallel_for(w.planes, block, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) body(i);
  });
}

// The places of an axis that a window meets: from `begin`, every `dilation`-th, below `end`.
struct Span {
  Span(const Windows& w, std::size_t axis, std::int64_t window) {
    const std::int64_t start = window * w.stride[axis] - w.padding[axis];
    const std::int64_t skipped = start < 0 ? (w.dilation[axis] - 1 - start) / w.dilation[axis] : 0;
    begin = start + skipped * w.dilation[axis];
    end = std::min(start + w.kernel[axis] * w.dilation[axis], w.plane[axis]);
  }
  std::int64_t begin, end;
};

// f(place) for each place in a plane that a window meets.
template <class F>
void for_each_place(const Windows& w, const Span& rows, const Span& cols, const F& f) {
  for (std::int64_t r = rows.begin; r < rows.end; r += w.dilation[0]) {
    for (std::int64_t c = cols.begin; c < cols.end; c += w.dilation[1]) f(r * w.plane[1] + c);
  }
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

// f(window, rows, columns, number of places that hold the maximum) for each window that has one.
template <class T, class F>
void for_each_max(const Windows& w, const T* x, const T* y, const F& f) {
  for (std::int64_t i = 0; i < w.count[0]; ++i) {
    const Span rows(w, 0, i);
    for (std::int64_t j = 0; j < w.count[1]; ++j) {
      const Span cols(w, 1, j);
      const std::int64_t window = i * w.count[1] + j;
      std::int64_t ties = 0;
      for_each_place(w, rows, cols, [&](std::int64_t at) { ties += same(x[at], y[window]); });
      if (ties > 0) f(window, rows, cols, static_cast<T>(ties));
    }
  }
}

}  // namespace

template <class T>
void max_pool(const Windows& w, const T* x, T* y) {
  const std::int64_t plane = product(w.plane), count = product(w.count);
  for_each_plane(w, [&](std::int64_t p) {
    std::fill_n(y + p * count, count, -std::numeric_limits<T>::infinity());
    for (std::int64_t e = 0; e < product(w.kernel); ++e) {
      raise_to(w, Runs(w, e), x + p * plane, y + p * count);
    }
  });
}

template <class T>
void pick_at_max(const Windows& w, const T* x, const T* y, const T* u, T* z) {
  const std::int64_t size = product(w.plane), count = product(w.count);
  for_each_plane(w, [&](std::int64_t p) {
    const T *const plane = x + p * size, *const top = y + p * count, *const from = u + p * size;
    T* const to = z + p * count;
    std::fill_n(to, count, T(0));
    for_each_max(w, plane, top, [&](std::int64_t i, const Span& rows, const Span& cols, T ties) {
      T sum = 0;
      for_each_place(w, rows, cols, [&](std::int64_t at) {
        if (same(plane[at], top[i])) sum += from[at];
      });
      to[i] = sum / ties;
    });
  });
}

template <class T>
void spread_to_max(const Windows& w, const T* x, const T* y, const T* z, T* u) {
  const std::int64_t size = product(w.plane), count = product(w.count);
  for_each_plane(w, [&](std::int64_t p) {
    const T *const plane = x + p * size, *const top = y + p * count, *const from = z + p * count;
    T* const to = u + p * size;
    std::fill_n(to, size, T(0));
    for_each_max(w, plane, top, [&](std::int64_t i, const Span& rows, const Span& cols, T ties) {
      for_each_place(w, rows, cols, [&](std::int64_t at) {
        if (same(plane[at], top[i])) to[at] += from[i] / ties;
      });
    });
  });
}

#define INSTANTIATE(T)                                                         \
  template void max_pool(const Windows&, const T*, T*);                        \
  template void pick_at_max(const Windows&, const T*, const T*, const T*, T*); \
  template void spread_to_max(const Windows&, const T*, const T*, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
