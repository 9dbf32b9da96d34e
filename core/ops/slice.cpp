// Parts of a tensor: views of the same memory, and triangles and reversed order, which are copies.
#include <numeric>

#include "core/create.h"
#include "core/kernels/memory.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// `count` indices of an axis from `start` on, `step` apart.
struct Range {
  std::int64_t start, count, step;
};

Tensor part_of(const Tensor& x, int axis, const Range& range) {
  Shape shape = x.shape(), strides = x.strides();
  shape[axis] = range.count;
  if (range.count > 1) strides[axis] *= range.step;
  const std::int64_t start = range.count > 0 ? range.start : 0;
  return view_of(x, shape, strides, x.impl().offset + start * x.strides()[axis]);
}

constexpr Op kSlice{"slice", "x", "y = x[start : end : step] along one axis",
                    "dx = dy where it was taken, 0 elsewhere"};

Tensor place(const Tensor& part, const Shape& shape, int axis, const Range& range);

// The range of x along the axis, recorded as `op`.
Tensor take(const Op& op, const Tensor& x, int axis, const Range& range) {
  const Tensor y = part_of(x, axis, range);
  return record(y, op, {x}, {}, [axis, range](const BackwardContext& c) -> Grads {
    return {place(c.grad, c.shape(0), axis, range)};
  });
}

// The adjoint of take: zeros, but `part` in that range.
Tensor place(const Tensor& part, const Shape& shape, int axis, const Range& range) {
  const Tensor y = zeros(shape, part.dtype());
  copy_into(part_of(y, axis, range), part);
  return record(y,
                {"place", "part", "y = part in its place, 0 elsewhere", "dpart = dy in that place"},
                {part}, {}, [axis, range](const BackwardContext& c) -> Grads {
                  return {take(kSlice, c.grad, axis, range)};
                });
}

Tensor triangle(const char* op, const Tensor& x, std::int64_t diagonal, bool lower) {
  check(x.dim() >= 2, "{}: the tensor must have at least 2 axes, its shape is {}", op, x.shape());
  const Tensor packed = row_major(x);
  const Tensor y = empty(x.shape(), x.dtype());
  const std::int64_t rows = x.size(-2), cols = x.size(-1);
  const std::int64_t count = x.shape().sub(0, x.dim() - 2).numel();
  dispatch_all(x.dtype(), [&]<class T>() {
    kernels::triangle(count, rows, cols, diagonal, lower, packed.data<T>(), mutable_data<T>(y));
  });
  return y;
}

}  // namespace

Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
             std::int64_t step) {
  const int i = normalize_axis("slice", axis, x.dim());
  check(step > 0, "slice: the step must be positive, got {}", step);
  const std::int64_t n = x.shape()[i];
  const auto bound = [n](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n);
  };
  const std::int64_t first = bound(start), last = bound(end);
  const std::int64_t count = first < last ? (last - first - 1) / step + 1 : 0;
  return take(kSlice, x, i, {first, count, step});
}

Tensor select(const Tensor& x, std::int64_t axis, std::int64_t index) {
  const int i = normalize_axis("select", axis, x.dim());
  const std::int64_t n = x.shape()[i];
  check(index >= -n && index < n, "select: index {} is out of range for axis {} of shape {}", index,
        axis, x.shape());
  const Range range{index < 0 ? index + n : index, 1, 1};
  Shape shape = x.shape(), strides = x.strides();
  shape.erase(i);
  strides.erase(i);
  const Tensor y = view_of(x, shape, strides, x.impl().offset + range.start * x.strides()[i]);
  return record(y, {"select", "x", "y = x[i] along one axis", "dx = dy at index i, 0 elsewhere"},
                {x}, {}, [i, range](const BackwardContext& c) -> Grads {
                  return {place(unsqueeze(c.grad, i), c.shape(0), i, range)};
                });
}

std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes,
                          std::int64_t axis) {
  const int i = normalize_axis("split", axis, x.dim());
  std::int64_t rest = x.shape()[i];
  for (std::int64_t size : sizes) {
    check(size >= 0 && size <= rest, "split: the sizes must be at least 0 and add up to {}, got {}",
          x.shape()[i], size);
    rest -= size;
  }
  check(rest == 0, "split: the sizes leave {} of {} on axis {}", rest, x.shape()[i], axis);
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    pieces.push_back(take({"split", "x", "y = one of the pieces of x along one axis",
                           "dx = dy where it was taken, 0 elsewhere"},
                          x, i, {start, size, 1}));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis) {
  check(size > 0, "split: the size must be positive, got {}", size);
  const std::int64_t n = x.size(axis);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(n / size), size);
  if (n % size != 0 || n == 0) sizes.push_back(n % size);
  return split(x, sizes, axis);
}

Tensor flip(const Tensor& x, const Shape& axes) {
  if (axes.empty()) return x;
  const Shape order = normalize_axes("flip", axes, x.dim());
  Shape strides = x.strides();
  std::int64_t offset = x.impl().offset;
  for (std::int64_t axis : order) {
    const int i = static_cast<int>(axis);
    if (x.numel() > 0) offset += (x.shape()[i] - 1) * x.strides()[i];
    strides[i] = -x.strides()[i];
  }
  // A copy: negative strides stay inside this function, nobody else has to think of them.
  const Tensor y = empty(x.shape(), x.dtype());
  copy_into(y, view_of(x, x.shape(), strides, offset));
  return record(y,
                {"flip", "x", "y = x in reversed order along some axes",
                 "dx = dy in reversed order along them"},
                {x}, {},
                [order](const BackwardContext& c) -> Grads { return {flip(c.grad, order)}; });
}

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  const Tensor y = triangle("tril", x, diagonal, true);
  return record(
      y,
      {"tril", "x", "y = x on and below a diagonal, 0 above", "dx = dy on and below it, 0 above"},
      {x}, {}, [diagonal](const BackwardContext& c) -> Grads { return {tril(c.grad, diagonal)}; });
}

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  const Tensor y = triangle("triu", x, diagonal, false);
  return record(
      y,
      {"triu", "x", "y = x on and above a diagonal, 0 below", "dx = dy on and above it, 0 below"},
      {x}, {}, [diagonal](const BackwardContext& c) -> Grads { return {triu(c.grad, diagonal)}; });
}

}  // namespace gradzoo
