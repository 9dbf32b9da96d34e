// Other shapes for the same memory: strides are worked out, nothing moves unless it must.
#include "core/ops/view.h"

#include <optional>

#include "core/node.h"
#include "core/ops/layout.h"
#include "core/ops/reduce.h"

namespace gradzoo {
namespace {

// The shape with its -1, if any, worked out from the number of elements.
Shape complete(const Tensor& x, const Shape& shape) {
  Shape target = shape;
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != -1) continue;
    check(open < 0, "reshape: only one extent may be -1, got {}", shape);
    open = i;
    target[i] = 1;
  }
  const std::int64_t known = target.numel();
  if (open >= 0) {
    check(known != 0, "reshape: the -1 in {} could be anything beside a 0", shape);
    target[open] = x.numel() / known;
  }
  check(target.numel() == x.numel(), "reshape: {} elements of shape {} do not fit into {}",
        x.numel(), x.shape(), shape);
  return target;
}

// Strides with which the memory of x reads as `shape`, if there are any: once x's axes are merged
// into as few as possible, each must be made of whole axes of `shape`.
std::optional<Shape> strides_for(const Tensor& x, const Shape& shape) {
  Shape strides = contiguous_strides(shape);
  if (shape.numel() == 0) return strides;
  const auto walk = make_walk<1>(x.shape(), {x.strides()});
  int i = shape.rank() - 1;
  for (std::size_t axis = static_cast<std::size_t>(walk.rank); axis-- > 0;) {
    std::int64_t covered = 1;
    while (i >= 0 && (covered < walk.shape[axis] || shape[i] == 1)) {
      strides[i] = covered * walk.strides[0][axis];
      covered *= shape[i--];
    }
    if (covered != walk.shape[axis]) return {};
  }
  return strides;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape target = complete(x, shape);
  const std::optional<Shape> strides = strides_for(x, target);
  Tensor y;
  if (strides) {
    y = view_of(x, target, *strides, x.impl().offset);
  } else {
    y = empty(target, x.dtype());
    copy_into(view_of(y, x.shape(), contiguous_strides(x.shape()), 0), x);
  }
  return record(y, {"reshape", "x", "y = x in another shape", "dx = dy in the shape of x"}, {x}, {},
                [](const BackwardContext& c) -> Grads { return {reshape(c.grad, c.shape(0))}; });
}

Tensor permute(const Tensor& x, const Shape& axes) {
  check(axes.rank() == x.dim(), "permute: {} must name each axis of shape {} once", axes,
        x.shape());
  const Shape order = normalize_axes("permute", axes, x.dim());
  Shape shape = order, strides = order, inverse = order;
  for (int i = 0; i < x.dim(); ++i) {
    const int from = static_cast<int>(order[i]);
    shape[i] = x.shape()[from];
    strides[i] = x.strides()[from];
    inverse[from] = i;
  }
  const Tensor y = view_of(x, shape, strides, x.impl().offset);
  return record(
      y, {"permute", "x", "y = x with its axes in another order", "dx = dy with its axes put back"},
      {x}, {}, [inverse](const BackwardContext& c) -> Grads { return {permute(c.grad, inverse)}; });
}

Tensor transpose(const Tensor& x, std::int64_t axis_a, std::int64_t axis_b) {
  const int a = normalize_axis("transpose", axis_a, x.dim());
  const int b = normalize_axis("transpose", axis_b, x.dim());
  Shape shape = x.shape(), strides = x.strides();
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  const Tensor y = view_of(x, shape, strides, x.impl().offset);
  return record(
      y,
      {"transpose", "x", "y = x with two axes exchanged", "dx = dy with the same axes exchanged"},
      {x}, {}, [a, b](const BackwardContext& c) -> Grads { return {transpose(c.grad, a, b)}; });
}

Tensor squeeze(const Tensor& x) {
  Shape shape, strides;
  for (int i = 0; i < x.dim(); ++i) {
    if (x.shape()[i] == 1) continue;
    shape.push_back(x.shape()[i]);
    strides.push_back(x.strides()[i]);
  }
  const Tensor y = view_of(x, shape, strides, x.impl().offset);
  return record(
      y, {"squeeze", "x", "y = x without its axes of extent 1", "dx = dy in the shape of x"}, {x},
      {}, [](const BackwardContext& c) -> Grads { return {reshape(c.grad, c.shape(0))}; });
}

Tensor squeeze(const Tensor& x, std::int64_t axis) {
  const int i = normalize_axis("squeeze", axis, x.dim());
  check(x.shape()[i] == 1, "squeeze: axis {} of shape {} must have extent 1", axis, x.shape());
  Shape shape = x.shape(), strides = x.strides();
  shape.erase(i);
  strides.erase(i);
  const Tensor y = view_of(x, shape, strides, x.impl().offset);
  return record(y, {"squeeze", "x", "y = x without one axis of extent 1", "dx = dy with that axis"},
                {x}, {}, [i](const BackwardContext& c) -> Grads { return {unsqueeze(c.grad, i)}; });
}

Tensor unsqueeze(const Tensor& x, std::int64_t axis) {
  const int i = normalize_axis("unsqueeze", axis, x.dim() + 1);
  Shape shape = x.shape(), strides = x.strides();
  strides.insert(i, i < x.dim() ? x.shape()[i] * x.strides()[i] : 1);
  shape.insert(i, 1);
  const Tensor y = view_of(x, shape, strides, x.impl().offset);
  return record(
      y, {"unsqueeze", "x", "y = x with one more axis, of extent 1", "dx = dy without that axis"},
      {x}, {}, [i](const BackwardContext& c) -> Grads { return {squeeze(c.grad, i)}; });
}

Tensor expand(const Tensor& x, const Shape& shape) {
  Shape target = shape;
  const int shift = target.rank() - x.dim();
  check(shift >= 0, "expand: {} has fewer axes than the tensor's shape {}", shape, x.shape());
  for (int i = 0; i < target.rank(); ++i) {
    if (target[i] == -1 && i >= shift) target[i] = x.shape()[i - shift];
  }
  target.numel();  // throws for negative extents and for more elements than can be counted
  check(broadcast_shapes("expand", x.shape(), target) == target,
        "expand: a tensor of shape {} cannot be stretched to {}", x.shape(), shape);
  const Tensor y = view_of(x, target, broadcast_strides(x, target), x.impl().offset);
  return record(
      y, {"expand", "x", "y = x repeated to a larger shape", "dx = dy summed to the shape of x"},
      {x}, {}, [](const BackwardContext& c) -> Grads { return {sum_to(c.grad, c.shape(0))}; });
}

}  // namespace gradzoo
