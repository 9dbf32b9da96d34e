// Both directions go over runs: the windows of one row that meet one row of a plane, with one
// element of the kernel. In a run, neighbours are `stride` apart in the plane.
#include "core/kernels/im2col.h"

#include <algorithm>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"

namespace gradzoo::kernels {

template <class T>
GRADZOO_SIMD void gather(const T* x, std::int64_t stride, std::int64_t n, T* y) {
  if (stride == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
  }
}

template <class T>
GRADZOO_SIMD void scatter_add(const T* y, std::int64_t stride, std::int64_t n, T* x) {
  if (stride == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) x[i] += y[i];
  } else {
    for (std::int64_t i = 0; i < n; ++i) x[i * stride] += y[i];
  }
}

namespace {

constexpr std::int64_t kBlock = 16384;  // elements of the columns that one thread takes at a time

std::int64_t product(const Windows::Two& two) { return two[0] * two[1]; }

// The windows along one axis for which an element of the kernel lies inside the plane.
struct Range {
  Range(const Windows& w, std::size_t axis, std::int64_t element)
      : shift(element * w.dilation[axis] - w.padding[axis]) {
    const std::int64_t stride = w.stride[axis];
    const auto first_at = [&](std::int64_t position) {  // the first window at or after it
      const std::int64_t way = std::max<std::int64_t>(position - shift, 0);
      return std::min((way + stride - 1) / stride, w.count[axis]);
    };
    begin = first_at(0);
    end = first_at(w.plane[axis]);
  }
  std::int64_t shift;  // where the element of window 0 is
  std::int64_t begin, end;
};

// One row of the columns: one element of the kernel, in all windows of one plane.
template <class T>
void unfold_row(const Windows& w, std::int64_t element, const T* x, T* y) {
  const Range rows(w, 0, element / w.kernel[1]), cols(w, 1, element % w.kernel[1]);
  const std::int64_t width = w.count[1], n = cols.end - cols.begin;
  std::fill(y, y + rows.begin * width, T(0));
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    T* const out = y + r * width;
    std::fill(out, out + cols.begin, T(0));
    if (n > 0) {
      const std::int64_t row = r * w.stride[0] + rows.shift;
      gather(x + row * w.plane[1] + cols.begin * w.stride[1] + cols.shift, w.stride[1], n,
             out + cols.begin);
    }
    std::fill(out + cols.end, out + width, T(0));
  }
  std::fill(y + rows.end * width, y + w.count[0] * width, T(0));
}

template <class T>
void fold_row(const Windows& w, std::int64_t element, const T* y, T* x) {
  const Range rows(w, 0, element / w.kernel[1]), cols(w, 1, element % w.kernel[1]);
  const std::int64_t n = cols.end - cols.begin;
  if (n <= 0) return;
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const std::int64_t row = r * w.stride[0] + rows.shift;
    scatter_add(y + r * w.count[1] + cols.begin, w.stride[1], n,
                x + row * w.plane[1] + cols.begin * w.stride[1] + cols.shift);
  }
}

}  // namespace

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

#define INSTANTIATE(T)                                \
  template void unfold(const Windows&, const T*, T*); \
  template void fold(const Windows&, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
