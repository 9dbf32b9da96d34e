// What the reducing ops share: which axes go, the shape of what is left, the kernels' layout.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

#include "core/kernels/reduce.h"
#include "core/ops/layout.h"
#include "core/ops/view.h"
#include "core/tensor.h"

namespace gradzoo {

/// The axes of one reduction.
struct Reduction {
  Shape kept;  ///< shape of the input with extent 1 along the reduced axes
  Shape out;   ///< shape of the output: `kept`, or without those axes
  std::array<bool, kMaxRank> reduced{};
  std::int64_t count;  ///< elements that make one output

  /// Axes as in the public functions: none means all. Throws naming `op`.
  Reduction(const char* op, const Shape& shape, const Shape& axes, bool keepdim) : kept(shape) {
    Shape extents;
    for (const std::int64_t axis : normalize_axes(op, axes, shape.rank())) {
      reduced[static_cast<std::size_t>(axis)] = true;
      extents.push_back(shape[static_cast<int>(axis)]);
      kept[static_cast<int>(axis)] = 1;
    }
    count = extents.numel();
    for (int i = 0; i < shape.rank(); ++i) {
      if (keepdim || !reduced[static_cast<std::size_t>(i)]) out.push_back(kept[i]);
    }
  }
};

/// The layout of x under a reduction. Unless the op asks for positions, the order of the reduced
/// axes is free: then the one closest in memory comes last.
inline kernels::Fold make_fold(const Tensor& x, const std::array<bool, kMaxRank>& reduced,
                               bool keep_order = false) {
  Shape outer, outer_strides, inner, inner_strides;
  // An axis that repeats one element (stride 0) goes outside all others.
  const auto distance = [](std::int64_t stride) {
    return stride == 0 ? INT64_MAX : std::abs(stride);
  };
  for (int i = 0; i < x.dim(); ++i) {
    const std::int64_t extent = x.shape()[i];
    const std::int64_t stride = x.strides()[i];
    if (!reduced[static_cast<std::size_t>(i)]) {
      outer.push_back(extent);
      outer_strides.push_back(stride);
      continue;
    }
    int place = inner.rank();
    while (!keep_order && place > 0 && distance(inner_strides[place - 1]) < distance(stride)) {
      --place;
    }
    inner.insert(place, extent);
    inner_strides.insert(place, stride);
  }
  return {make_walk<1>(outer, {outer_strides}), make_walk<1>(inner, {inner_strides})};
}

/// A gradient of the output, shaped so that it broadcasts to the input.
inline Tensor unreduced(const Tensor& gradient, const Shape& kept) {
  return gradient.shape() == kept ? gradient : reshape(gradient, kept);
}

}  // namespace gradzoo
