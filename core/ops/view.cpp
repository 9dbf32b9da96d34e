// Shapes: views onto the same memory where strides allow, copies elsewhere.
#include "core/ops/view.h"

#include "core/kernels/memory.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/reduce.h"

namespace gradzoo {

Tensor expand(const Tensor& x, const Shape& shape) {
  Shape target = shape;
  const int shift = target.rank() - x.dim();
  check(shift >= 0, "expand: {} has fewer axes than the tensor's shape {}", shape, x.shape());
  for (int i = 0; i < target.rank(); ++i) {
    if (target[i] == -1 && i >= shift) target[i] = x.shape()[i - shift];
  }
  check(broadcast_shapes("expand", x.shape(), target) == target,
        "expand: a tensor of shape {} cannot be stretched to {}", x.shape(), shape);
  const Tensor y = view_of(x, target, broadcast_strides(x, target), x.impl().offset);
  return record(y, "expand", {x}, {},
                [](const BackwardContext& c) -> Grads { return {sum_to(c.grad, c.shape(0))}; });
}

void copy_into(const Tensor& target, const Tensor& value) {
  dispatch_all(target.dtype(), [&]<class T>() {
    kernels::copy(walk_over(target, value), value.data<T>(), mutable_data<T>(target));
  });
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

Tensor clone(const Tensor& x) {
  const Tensor y = empty(x.shape(), x.dtype());
  copy_into(y, x);
  return record(y, "clone", {x}, {}, [](const BackwardContext& c) -> Grads { return {c.grad}; });
}

}  // namespace gradzoo
