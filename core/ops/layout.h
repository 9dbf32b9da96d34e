// From tensors to what strided kernels take: one merged walk over all of them.
#pragma once

#include <array>
#include <cstdint>

#include "core/kernels/strided.h"
#include "core/ops/view.h"
#include "core/tensor.h"

namespace gradzoo {

/// The numbers of x in row-major order without gaps, for kernels that want them so: x itself, or a
/// copy that is no op of its own, so that neither graphs nor traces show it.
inline Tensor row_major(const Tensor& x) {
  if (x.is_contiguous()) return x;
  const Tensor y = empty(x.shape(), x.dtype());
  copy_into(y, x);
  return y;
}

/// Strides with which `tensor` is read as `shape`, to which it can be broadcast: 0 along the axes
/// it is stretched over.
inline Shape broadcast_strides(const Tensor& tensor, const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 0);
  const int shift = shape.rank() - tensor.dim();
  for (int i = 0; i < tensor.dim(); ++i) {
    strides[i + shift] = tensor.shape()[i] == 1 ? 0 : tensor.strides()[i];
  }
  return strides;
}

/// A walk over arrays of one `shape` with the given strides. Axes of extent 1 vanish, and
/// neighbours that are one axis for every array are merged.
template <int N>
kernels::Walk<N> make_walk(const Shape& shape, const std::array<Shape, N>& strides) {
  kernels::Walk<N> walk;
  walk.numel = shape.numel();
  walk.shape[0] = 1;
  std::size_t last = 0;  // the axis being merged into
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    bool one_axis = walk.shape[last] != 1;
    for (std::size_t k = 0; k < N; ++k) {
      one_axis = one_axis && walk.strides[k][last] == strides[k][i] * shape[i];
    }
    if (one_axis) {
      walk.shape[last] *= shape[i];
    } else {
      if (walk.shape[last] != 1) ++last;
      walk.shape[last] = shape[i];
    }
    for (std::size_t k = 0; k < N; ++k) walk.strides[k][last] = strides[k][i];
  }
  walk.rank = static_cast<int>(last) + 1;
  return walk;
}

/// The walk of an elementwise op: array 0 is `out`, the others are broadcast to its shape.
template <class... Inputs>
auto walk_over(const Tensor& out, const Inputs&... inputs) {
  return make_walk<1 + sizeof...(inputs)>(
      out.shape(), {out.strides(), broadcast_strides(inputs, out.shape())...});
}

}  // namespace gradzoo
