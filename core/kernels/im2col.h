// Windows of planes laid out as the columns of a matrix (im2col), and added back (col2im).
#pragma once

#include <array>
#include <cstdint>

namespace gradzoo::kernels {

/// Where a kernel meets planes [height, width]; pairs are {along the height, along the width}.
/// Element (i, j) of window (r, c) is at row r * stride - padding + i * dilation of the plane, and
/// likewise along the width. Outside there are zeros.
struct Windows {
  using Two = std::array<std::int64_t, 2>;
  std::int64_t planes;
  Two plane, kernel, stride, padding, dilation;
  Two count;  ///< of windows along each axis
};

/// Some of the windows of each plane: rows [begin, end) of them, or of the only row the columns
/// [begin, end).
Windows part_of(Windows windows, std::int64_t begin, std::int64_t end);

/// y [planes, kernel height, kernel width, windows] from x [planes, height, width].
template <class T>
void unfold(const Windows& windows, const T* x, T* y);

/// The adjoint: x [planes, height, width] is the sum of what each window of y holds there.
template <class T>
void fold(const Windows& windows, const T* y, T* x);

/// unfold on the calling thread.
template <class T>
void unfold_here(const Windows& windows, const T* x, T* y);
/// fold on the calling thread, added to what x holds. What y holds of places outside is lost.
template <class T>
void fold_here(const Windows& windows, T* y, T* x);

}  // namespace gradzoo::kernels
