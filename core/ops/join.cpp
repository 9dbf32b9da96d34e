// Tensors put together, or into a larger one: each input is copied to its place in the result.
#include "core/create.h"
#include "core/node.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// The place of an input in the result: `size` indices of the axis from `start` on.
Tensor place_in(const Tensor& y, int axis, std::int64_t start, std::int64_t size) {
  Shape shape = y.shape();
  shape[axis] = size;
  const std::int64_t from = size > 0 ? start : 0;
  return view_of(y, shape, y.strides(), y.impl().offset + from * y.strides()[axis]);
}

void check_dtypes(const char* op, const std::vector<Tensor>& tensors) {
  check(!tensors.empty(), "{}: there must be at least one tensor", op);
  for (const Tensor& x : tensors) {
    check(x.dtype() == tensors[0].dtype(), "{}: the dtypes must be equal, got {} and {}", op,
          tensors[0].dtype(), x.dtype());
  }
}

}  // namespace

Tensor concat(const std::vector<Tensor>& tensors, std::int64_t axis) {
  check_dtypes("concat", tensors);
  Shape shape = tensors[0].shape();
  const int at = normalize_axis("concat", axis, shape.rank());
  std::vector<std::int64_t> ends;
  std::int64_t end = 0;
  for (const Tensor& x : tensors) {
    check(x.dim() == shape.rank(), "concat: shapes {} and {} differ in their number of axes",
          tensors[0].shape(), x.shape());
    shape[at] = x.shape()[at];
    check(x.shape() == shape, "concat: shapes {} and {} differ in more than axis {}",
          tensors[0].shape(), x.shape(), axis);
    ends.push_back(end += x.shape()[at]);
  }
  shape[at] = end;
  const Tensor y = empty(shape, tensors[0].dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t size = tensors[i].shape()[at];
    copy_into(place_in(y, at, ends[i] - size, size), tensors[i]);
  }
  return record(
      y, {"concat", "x...", "y = all x one after the other along one axis", "dx = its part of dy"},
      tensors, {}, [at, ends](const BackwardContext& c) {
        Grads grads(ends.size());
        for (std::size_t i = 0; i < ends.size(); ++i) {
          if (c.needs(i)) grads[i] = slice(c.grad, at, i == 0 ? 0 : ends[i - 1], ends[i]);
        }
        return grads;
      });
}

Tensor stack(const std::vector<Tensor>& tensors, std::int64_t axis) {
  check_dtypes("stack", tensors);
  Shape shape = tensors[0].shape();
  for (const Tensor& x : tensors) {
    check(x.shape() == shape, "stack: the shapes must be equal, got {} and {}", shape, x.shape());
  }
  const int at = normalize_axis("stack", axis, shape.rank() + 1);
  shape.insert(at, static_cast<std::int64_t>(tensors.size()));
  const Tensor y = empty(shape, tensors[0].dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Shape strides = y.strides();
    strides.erase(at);
    const std::int64_t offset = static_cast<std::int64_t>(i) * y.strides()[at];
    copy_into(view_of(y, tensors[i].shape(), strides, offset), tensors[i]);
  }
  return record(y,
                {"stack", "x...", "y = all x side by side along a new axis", "dx = its part of dy"},
                tensors, {}, [at, n = tensors.size()](const BackwardContext& c) {
                  Grads grads(n);
                  for (std::size_t i = 0; i < n; ++i) {
                    if (c.needs(i)) grads[i] = select(c.grad, at, static_cast<std::int64_t>(i));
                  }
                  return grads;
                });
}

Tensor pad(const Tensor& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths,
           double value) {
  const int count = static_cast<int>(widths.size());
  check(count <= x.dim(), "pad: {} pairs of widths are too many for shape {}", count, x.shape());
  Shape shape = x.shape(), before = Shape::filled(x.dim(), 0);
  for (int i = 0; i < count; ++i) {
    const auto [front, behind] = widths[static_cast<std::size_t>(i)];
    check(front >= 0 && behind >= 0, "pad: widths must not be negative, got {} and {}", front,
          behind);
    const int axis = x.dim() - count + i;
    before[axis] = front;
    check(front <= INT64_MAX / 4 && behind <= INT64_MAX / 4, "pad: widths {} and {} are too large",
          front, behind);
    shape[axis] += front + behind;
  }
  const Tensor y = full(shape, value, x.dtype());
  Tensor inside = y;
  for (int i = 0; i < x.dim(); ++i) inside = place_in(inside, i, before[i], x.shape()[i]);
  copy_into(inside, x);
  return record(y, {"pad", "x", "y = x with a margin of one value", "dx = dy without the margin"},
                {x}, {}, [before](const BackwardContext& c) -> Grads {
                  Tensor inner = c.grad;
                  for (int i = 0; i < before.rank(); ++i) {
                    const std::int64_t n = c.shape(0)[i];
                    if (inner.shape()[i] != n) inner = slice(inner, i, before[i], before[i] + n);
                  }
                  return {inner};
                });
}

}  // namespace gradzoo
