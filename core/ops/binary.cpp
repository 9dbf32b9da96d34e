// Elementwise functions of two tensors. Forward above, gradient below, in the same words; sum_to
// is the adjoint of broadcasting.
#include "core/ops/binary.h"

#include "core/create.h"
#include "core/kernels/binary.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"

namespace gradzoo {
namespace {

// y = kernel(a, b), elementwise: dtypes checked, shapes broadcast. The kernel's element type
// follows from the pointers it is given.
template <class Kernel>
Tensor arithmetic(const char* op, const Tensor& a, const Tensor& b, Kernel kernel) {
  check(a.dtype() == b.dtype(), "{}: the dtypes must be equal, got {} and {}", op, a.dtype(),
        b.dtype());
  const Tensor y = empty(broadcast_shapes(op, a.shape(), b.shape()), a.dtype());
  dispatch_numeric(op, a.dtype(), [&]<class T>() {
    kernel(walk_over(y, a, b), a.data<T>(), b.data<T>(), mutable_data<T>(y));
  });
  return y;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("add", a, b, [](auto... p) { kernels::add(p...); });
  return record(y, "add", {a, b}, {}, [](const BackwardContext& c) -> Grads {
    return {c.needs(0) ? sum_to(c.grad, c.shape(0)) : Tensor(),
            c.needs(1) ? sum_to(c.grad, c.shape(1)) : Tensor()};
  });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("sub", a, b, [](auto... p) { kernels::sub(p...); });
  return record(y, "sub", {a, b}, {}, [](const BackwardContext& c) -> Grads {
    return {c.needs(0) ? sum_to(c.grad, c.shape(0)) : Tensor(),
            c.needs(1) ? neg(sum_to(c.grad, c.shape(1))) : Tensor()};
  });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("mul", a, b, [](auto... p) { kernels::mul(p...); });
  return record(y, "mul", {a, b}, {a, b}, [](const BackwardContext& c) -> Grads {
    return {c.needs(0) ? sum_to(c.grad * c.saved(1), c.shape(0)) : Tensor(),
            c.needs(1) ? sum_to(c.grad * c.saved(0), c.shape(1)) : Tensor()};
  });
}

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }

Tensor operator+(const Tensor& a, double b) { return add(a, scalar(b, a.dtype())); }
Tensor operator+(double a, const Tensor& b) { return add(scalar(a, b.dtype()), b); }
Tensor operator-(const Tensor& a, double b) { return sub(a, scalar(b, a.dtype())); }
Tensor operator-(double a, const Tensor& b) { return sub(scalar(a, b.dtype()), b); }
Tensor operator*(const Tensor& a, double b) { return mul(a, scalar(b, a.dtype())); }
Tensor operator*(double a, const Tensor& b) { return mul(scalar(a, b.dtype()), b); }

}  // namespace gradzoo
