// Arithmetic of two tensors. Forward above, gradient below, in the same words; sum_to is the
// adjoint of broadcasting.
#include "core/ops/binary.h"

#include "core/kernels/binary.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/operands.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"

namespace gradzoo {
namespace {

// An uninitialised result: dtypes checked, shapes broadcast.
Tensor result(const char* op, const Tensor& a, const Tensor& b) {
  check_same_dtype(op, a, b);
  return empty(broadcast_shapes(op, a.shape(), b.shape()), a.dtype());
}

// y = kernel(a, b), elementwise. The kernel's element type follows from the pointers it is given.
template <class Kernel>
Tensor arithmetic(const char* op, const Tensor& a, const Tensor& b, Kernel kernel) {
  const Tensor y = result(op, a, b);
  dispatch_numeric(op, y.dtype(), [&]<class T>() {
    kernel(walk_over(y, a, b), a.data<T>(), b.data<T>(), mutable_data<T>(y));
  });
  return y;
}

// What to save of a factor: nothing, unless the other one wants a gradient.
Tensor kept_for(const Tensor& other, const Tensor& value) {
  return other.requires_grad() ? value : Tensor();
}

// The gradient of one side of maximum or minimum: all of it, none where that side `lost`, half at
// a tie. A NaN neither loses nor ties.
Tensor share(const BackwardContext& c, const Tensor& lost) {
  const Tensor tie = eq(c.saved(0), c.saved(1));
  return where(tie, c.grad * 0.5, masked_fill(c.grad, lost, 0));
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("add", a, b, [](const auto&... p) { kernels::add(p...); });
  return record(y, {"add", "a, b", "y = a + b", "da = dy; db = dy; summed to their shapes"}, {a, b},
                {}, [](const BackwardContext& c) -> Grads {
                  return {c.needs(0) ? sum_to(c.grad, c.shape(0)) : Tensor(),
                          c.needs(1) ? sum_to(c.grad, c.shape(1)) : Tensor()};
                });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("sub", a, b, [](const auto&... p) { kernels::sub(p...); });
  return record(y, {"sub", "a, b", "y = a - b", "da = dy; db = -dy; summed to their shapes"},
                {a, b}, {}, [](const BackwardContext& c) -> Grads {
                  return {c.needs(0) ? sum_to(c.grad, c.shape(0)) : Tensor(),
                          c.needs(1) ? neg(sum_to(c.grad, c.shape(1))) : Tensor()};
                });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("mul", a, b, [](const auto&... p) { kernels::mul(p...); });
  return record(y, {"mul", "a, b", "y = a * b", "da = dy * b; db = dy * a; summed to their shapes"},
                {a, b}, {kept_for(b, a), kept_for(a, b)}, [](const BackwardContext& c) -> Grads {
                  return {c.needs(0) ? sum_to(c.grad * c.saved(1), c.shape(0)) : Tensor(),
                          c.needs(1) ? sum_to(c.grad * c.saved(0), c.shape(1)) : Tensor()};
                });
}

Tensor div(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("div", a, b, [&](const auto& walk, auto* u, auto* v, auto* out) {
    if constexpr (std::is_same_v<decltype(v), const std::int64_t*>) {
      check(walk.numel == 0 || !kernels::contains_zero(walk_over(b), v),
            "div: division of integers by 0");
    }
    kernels::div(walk, u, v, out);
  });
  return record(
      y, {"div", "a, b", "y = a / b", "da = dy / b; db = -dy / b * y; summed to their shapes"},
      {a, b}, {kept_for(b, y), b}, [](const BackwardContext& c) -> Grads {
        const Tensor da = c.grad / c.saved(1);
        return {c.needs(0) ? sum_to(da, c.shape(0)) : Tensor(),
                c.needs(1) ? neg(sum_to(da * c.saved(0), c.shape(1))) : Tensor()};
      });
}

Tensor pow(const Tensor& a, const Tensor& b) {
  const Tensor y = result("pow", a, b);
  dispatch_floating("pow", y.dtype(), [&]<class T>() {
    kernels::pow(walk_over(y, a, b), a.data<T>(), b.data<T>(), mutable_data<T>(y));
  });
  return record(y,
                {"pow", "a, b", "y = a^b",
                 "da = dy * b * a^(b - 1); db = dy * y * log(a); summed to their shapes"},
                {a, b}, {a, b, kept_for(b, y)}, [](const BackwardContext& c) -> Grads {
                  const Tensor x = c.saved(0);
                  const Tensor n = c.saved(1);
                  const Tensor one = scalar(1, x.dtype());
                  Tensor dx, dn;
                  if (c.needs(0)) {  // n x^(n-1); at 0^0 the factor 0 must not meet 0^-1
                    const Tensor constant = logical_and(eq(x, 0), eq(n, 0));
                    dx = sum_to(c.grad * n * pow(x, where(constant, one, n - 1)), c.shape(0));
                  }
                  if (c.needs(1)) {  // x^n log(x), whose limit at x = 0 is 0 unless n is negative
                    const Tensor vanishing = logical_and(eq(x, 0), ge(n, 0));
                    dn = sum_to(c.grad * masked_fill(c.saved(2), vanishing, 0) *
                                    log(where(vanishing, one, x)),
                                c.shape(1));
                  }
                  return {dx, dn};
                });
}

Tensor pow(const Tensor& a, double exponent) {
  const Tensor y = empty(a.shape(), a.dtype());
  dispatch_floating("pow", a.dtype(), [&]<class T>() {
    kernels::pow(walk_over(y, a), a.data<T>(), mutable_data<T>(y), exponent);
  });
  return record(y, {"pow", "a", "y = a^n", "da = dy * n * a^(n - 1)"}, {a}, {a},
                [exponent](const BackwardContext& c) -> Grads {
                  if (exponent == 0) return {zeros_like(c.grad)};
                  return {c.grad * (pow(c.saved(0), exponent - 1) * exponent)};
                });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("maximum", a, b, [](const auto&... p) { kernels::maximum(p...); });
  return record(y,
                {"maximum", "a, b", "y = max(a, b)",
                 "da, db: dy for the larger, dy / 2 for both at a tie; summed to their shapes"},
                {a, b}, {a, b}, [](const BackwardContext& c) -> Grads {
                  const Tensor u = c.saved(0), v = c.saved(1);
                  return {c.needs(0) ? sum_to(share(c, lt(u, v)), c.shape(0)) : Tensor(),
                          c.needs(1) ? sum_to(share(c, gt(u, v)), c.shape(1)) : Tensor()};
                });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  const Tensor y = arithmetic("minimum", a, b, [](const auto&... p) { kernels::minimum(p...); });
  return record(y,
                {"minimum", "a, b", "y = min(a, b)",
                 "da, db: dy for the smaller, dy / 2 for both at a tie; summed to their shapes"},
                {a, b}, {a, b}, [](const BackwardContext& c) -> Grads {
                  const Tensor u = c.saved(0), v = c.saved(1);
                  return {c.needs(0) ? sum_to(share(c, gt(u, v)), c.shape(0)) : Tensor(),
                          c.needs(1) ? sum_to(share(c, lt(u, v)), c.shape(1)) : Tensor()};
                });
}

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }

Tensor operator+(const Tensor& a, double b) { return add(a, number_like("add", b, a)); }
Tensor operator+(double a, const Tensor& b) { return add(number_like("add", a, b), b); }
Tensor operator-(const Tensor& a, double b) { return sub(a, number_like("sub", b, a)); }
Tensor operator-(double a, const Tensor& b) { return sub(number_like("sub", a, b), b); }
Tensor operator*(const Tensor& a, double b) { return mul(a, number_like("mul", b, a)); }
Tensor operator*(double a, const Tensor& b) { return mul(number_like("mul", a, b), b); }
Tensor operator/(const Tensor& a, double b) { return div(a, number_like("div", b, a)); }
Tensor operator/(double a, const Tensor& b) { return div(number_like("div", a, b), b); }

}  // namespace gradzoo
