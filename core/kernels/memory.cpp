// Copy, fill and conversion.
#include "core/kernels/memory.h"

#include <algorithm>
#include <utility>

#include "core/kernels/map.h"

namespace gradzoo::kernels {
namespace {

// A transpose reads along one axis and writes along the other. In tiles of this side, the lines of
// memory that both touch stay in the first-level cache.
constexpr std::int64_t kTile = 16;

// The two last axes of a copy: `rows` by `cols` elements with these distances in between.
struct Plane {
  std::int64_t x_row, x_col;
  std::int64_t y_row, y_col;
};

template <class T>
GRADZOO_INLINE void copy_tiles(const Plane& p, std::int64_t rows, std::int64_t cols, const T* x,
                               T* y) {
  for (std::int64_t i = 0; i < rows; i += kTile) {
    const std::int64_t height = std::min(kTile, rows - i);
    for (std::int64_t j = 0; j < cols; j += kTile) {
      const std::int64_t width = std::min(kTile, cols - j);
      const T* from = x + i * p.x_row + j * p.x_col;
      T* into = y + i * p.y_row + j * p.y_col;
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t c = 0; c < width; ++c) {
          into[r * p.y_row + c * p.y_col] = from[r * p.x_row + c * p.x_col];
        }
      }
    }
  }
}

template <class T>
GRADZOO_SIMD void copy_plane(const Plane& p, std::int64_t rows, std::int64_t cols, const T* x,
                             T* y) {
  if (p.x_col != 1 || p.y_col != 1) return copy_tiles(p, rows, cols, x, y);
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* from = x + i * p.x_row;
    T* into = y + i * p.y_row;
#pragma omp simd
    for (std::int64_t j = 0; j < cols; ++j) into[j] = from[j];
  }
}

// Where y has its elements side by side on the last axis and x on another: that one is moved next
// to the last, so that the plane of the two is a transpose. The order of the others is free.
void pair_unit_strides(Walk<2>& walk) {
  const std::size_t last = static_cast<std::size_t>(walk.rank - 1);
  for (std::size_t axis = 0; axis + 1 < last; ++axis) {
    if (walk.strides[1][axis] != 1) continue;
    std::swap(walk.shape[axis], walk.shape[last - 1]);
    for (auto& strides : walk.strides) std::swap(strides[axis], strides[last - 1]);
    return;
  }
}

}  // namespace

template <class T>
void copy(const Walk<2>& walk, const T* x, T* y) {
  const std::size_t last = static_cast<std::size_t>(walk.rank - 1);
  if (walk.rank == 1 || walk.numel == 0 || walk.shape[last] >= kMapBlock) {
    map(walk, x, y, [](T v) { return v; });
    return;
  }
  Walk<2> lines = walk;
  if (walk.strides[1][last] != 1) pair_unit_strides(lines);
  const std::int64_t cols = lines.shape[last];
  const Plane plane{lines.strides[1][last - 1], lines.strides[1][last], lines.strides[0][last - 1],
                    lines.strides[0][last]};
  lines.rank -= 1;
  lines.numel /= cols;
  parallel_for(lines.numel, kMapBlock / cols, [&](std::int64_t begin, std::int64_t end) {
    for_each_run(lines, begin, end, [&](const auto& at, std::int64_t rows) {
      copy_plane(plane, rows, cols, x + at[1], y + at[0]);
    });
  });
}

template <class T>
void fill(T* y, std::int64_t n, T value) {
  parallel_for(n, kMapBlock,
               [&](std::int64_t begin, std::int64_t end) { std::fill(y + begin, y + end, value); });
}

template <class X, class Y>
void convert(const Walk<2>& walk, const X* x, Y* y) {
  map(walk, x, y, [](X v) {
    if constexpr (std::is_same_v<Y, bool>) {
      return v != X(0);
    } else {
      return static_cast<Y>(v);
    }
  });
}

template <class X>
std::int64_t find_unfit(const X* x, std::int64_t n) {
  constexpr X limit = static_cast<X>(9223372036854775808.0);  // 2^63, exact in both types
  return std::find_if(x, x + n, [](X v) { return !(v >= -limit && v < limit); }) - x;
}

template <class T>
void triangle(std::int64_t count, std::int64_t rows, std::int64_t cols, std::int64_t diagonal,
              bool lower, const T* x, T* y) {
  const std::int64_t block = std::max<std::int64_t>(1, kMapBlock / std::max<std::int64_t>(1, cols));
  parallel_for(count * rows, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      // Columns before `edge` are on the lower side, the diagonal's own among them if they stay.
      const std::int64_t reach = line % rows + (lower ? 1 : 0);
      const std::int64_t edge =
          diagonal >= cols - reach ? cols : std::max<std::int64_t>(reach + diagonal, 0);
      const T* from = x + line * cols;
      T* into = y + line * cols;
      if (lower) {
        std::copy(from, from + edge, into);
        std::fill(into + edge, into + cols, T(0));
      } else {
        std::fill(into, into + edge, T(0));
        std::copy(from + edge, from + cols, into + edge);
      }
    }
  });
}

#define INSTANTIATE_CONVERT(X)                                    \
  template void convert(const Walk<2>&, const X*, float*);        \
  template void convert(const Walk<2>&, const X*, double*);       \
  template void convert(const Walk<2>&, const X*, std::int64_t*); \
  template void convert(const Walk<2>&, const X*, bool*);
#define INSTANTIATE(T)                                                                           \
  template void copy(const Walk<2>&, const T*, T*);                                              \
  template void fill(T*, std::int64_t, T);                                                       \
  template void triangle(std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, const T*, \
                         T*);                                                                    \
  INSTANTIATE_CONVERT(T)
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
INSTANTIATE(bool)
#undef INSTANTIATE
#undef INSTANTIATE_CONVERT
template std::int64_t find_unfit(const float*, std::int64_t);
template std::int64_t find_unfit(const double*, std::int64_t);

}  // namespace gradzoo::kernels
