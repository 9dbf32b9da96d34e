// The same numbers in other memory, or in another dtype.
#include "core/kernels/memory.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/view.h"

namespace gradzoo {

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

Tensor clone(const Tensor& x) {
  const Tensor y = empty(x.shape(), x.dtype());
  copy_into(y, x);
  return record(y, {"clone", "x", "y = x", "dx = dy"}, {x}, {},
                [](const BackwardContext& c) -> Grads { return {c.grad}; });
}

Tensor to(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (dtype == DType::i64 && is_floating(x.dtype())) {
    const Tensor packed = row_major(x);
    dispatch_floating("to", x.dtype(), [&]<class X>() {
      const std::int64_t bad = kernels::find_unfit(packed.data<X>(), x.numel());
      check(bad == x.numel(), "to: element {} is {}, which no i64 can hold", bad,
            bad < x.numel() ? packed.data<X>()[bad] : X(0));
    });
  }
  const Tensor y = empty(x.shape(), dtype);
  dispatch_all(x.dtype(), [&]<class X>() {
    dispatch_all(dtype, [&]<class Y>() {
      kernels::convert(walk_over(y, x), x.data<X>(), mutable_data<Y>(y));
    });
  });
  return record(
      y, {"to", "x", "y = x in another dtype", "dx = dy in the dtype of x"}, {x}, {},
      [from = x.dtype()](const BackwardContext& c) -> Grads { return {to(c.grad, from)}; });
}

void copy_into(const Tensor& target, const Tensor& value) {
  dispatch_all(target.dtype(), [&]<class T>() {
    kernels::copy(walk_over(target, value), value.data<T>(), mutable_data<T>(target));
  });
}

}  // namespace gradzoo
