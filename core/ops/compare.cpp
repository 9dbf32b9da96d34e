// Comparisons, logic, and selection by a condition.
#include "core/kernels/compare.h"

#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/operands.h"
#include "core/ops/reduce.h"

namespace gradzoo {
namespace {

// y = kernel(a, b), elementwise and boolean.
template <class Kernel>
Tensor comparison(const Op& op, const Tensor& a, const Tensor& b, Kernel kernel) {
  check_same_dtype(op.name, a, b);
  const Tensor y = empty(broadcast_shapes(op.name, a.shape(), b.shape()), DType::boolean);
  dispatch_all(a.dtype(), [&]<class T>() {
    kernel(walk_over(y, a, b), a.data<T>(), b.data<T>(), mutable_data<bool>(y));
  });
  return record(y, op, {a, b}, {}, no_gradient(op.name));
}

void check_boolean(const char* op, const char* argument, const Tensor& x) {
  check(x.dtype() == DType::boolean, "{}: {} must be boolean, got {}", op, argument, x.dtype());
}

// y = kernel(a, b) for two boolean tensors.
template <class Kernel>
Tensor logic(const Op& op, const Tensor& a, const Tensor& b, Kernel kernel) {
  check_boolean(op.name, "a", a);
  check_boolean(op.name, "b", b);
  const Tensor y = empty(broadcast_shapes(op.name, a.shape(), b.shape()), DType::boolean);
  kernel(walk_over(y, a, b), a.data<bool>(), b.data<bool>(), mutable_data<bool>(y));
  return record(y, op, {a, b}, {}, no_gradient(op.name));
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) {
  return comparison({"eq", "a, b", "y = true where a = b", "no gradient"}, a, b,
                    [](const auto&... p) { kernels::eq(p...); });
}

Tensor ne(const Tensor& a, const Tensor& b) {
  return comparison({"ne", "a, b", "y = true where a != b", "no gradient"}, a, b,
                    [](const auto&... p) { kernels::ne(p...); });
}

Tensor lt(const Tensor& a, const Tensor& b) {
  return comparison({"lt", "a, b", "y = true where a < b", "no gradient"}, a, b,
                    [](const auto&... p) { kernels::lt(p...); });
}

Tensor le(const Tensor& a, const Tensor& b) {
  return comparison({"le", "a, b", "y = true where a <= b", "no gradient"}, a, b,
                    [](const auto&... p) { kernels::le(p...); });
}

Tensor gt(const Tensor& a, const Tensor& b) {
  return comparison({"gt", "a, b", "y = true where a > b", "no gradient"}, a, b,
                    [](const auto&... p) { kernels::gt(p...); });
}

Tensor ge(const Tensor& a, const Tensor& b) {
  return comparison({"ge", "a, b", "y = true where a >= b", "no gradient"}, a, b,
                    [](const auto&... p) { kernels::ge(p...); });
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return logic({"logical_and", "a, b", "y = a and b", "no gradient"}, a, b,
               [](const auto&... p) { kernels::logical_and(p...); });
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
  return logic({"logical_or", "a, b", "y = a or b", "no gradient"}, a, b,
               [](const auto&... p) { kernels::logical_or(p...); });
}

Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return logic({"logical_xor", "a, b", "y = a or b, not both", "no gradient"}, a, b,
               [](const auto&... p) { kernels::ne(p...); });
}

Tensor logical_not(const Tensor& a) {
  check_boolean("logical_not", "a", a);
  const Tensor y = empty(a.shape(), DType::boolean);
  kernels::logical_not(walk_over(y, a), a.data<bool>(), mutable_data<bool>(y));
  return record(y, {"logical_not", "a", "y = not a", "no gradient"}, {a}, {},
                no_gradient("logical_not"));
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_boolean("where", "the condition", condition);
  check_same_dtype("where", a, b);
  const Shape values = broadcast_shapes("where", a.shape(), b.shape());
  const Tensor y = empty(broadcast_shapes("where", condition.shape(), values), a.dtype());
  dispatch_all(a.dtype(), [&]<class T>() {
    kernels::where(walk_over(y, condition, a, b), condition.data<bool>(), a.data<T>(), b.data<T>(),
                   mutable_data<T>(y));
  });
  return record(y,
                {"where", "c, a, b", "y = a where c, else b",
                 "da = dy where c, else 0; db = 0 where c, else dy; summed to their shapes"},
                {condition, a, b}, {condition}, [](const BackwardContext& c) -> Grads {
                  const Tensor took_a = c.saved(0);
                  Tensor da, db;
                  if (c.needs(1)) {
                    da = sum_to(masked_fill(c.grad, logical_not(took_a), 0), c.shape(1));
                  }
                  if (c.needs(2)) db = sum_to(masked_fill(c.grad, took_a, 0), c.shape(2));
                  return {Tensor(), da, db};
                });
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_boolean("masked_fill", "the mask", mask);
  check(broadcast_shapes("masked_fill", x.shape(), mask.shape()) == x.shape(),
        "masked_fill: a mask of shape {} does not fit a tensor of shape {}", mask.shape(),
        x.shape());
  check_number("masked_fill", value, x);
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_all(x.dtype(), [&]<class T>() {
    kernels::masked_fill(walk_over(y, x, mask), x.data<T>(), mask.data<bool>(), mutable_data<T>(y),
                         static_cast<T>(value));
  });
  return record(
      y, {"masked_fill", "x, mask", "y = value where mask, else x", "dx = 0 where mask, else dy"},
      {x, mask}, {mask}, [](const BackwardContext& c) -> Grads {
        return {masked_fill(c.grad, c.saved(0), 0), Tensor()};
      });
}

Tensor eq(const Tensor& a, double b) { return eq(a, number_like("eq", b, a)); }
Tensor ne(const Tensor& a, double b) { return ne(a, number_like("ne", b, a)); }
Tensor lt(const Tensor& a, double b) { return lt(a, number_like("lt", b, a)); }
Tensor le(const Tensor& a, double b) { return le(a, number_like("le", b, a)); }
Tensor gt(const Tensor& a, double b) { return gt(a, number_like("gt", b, a)); }
Tensor ge(const Tensor& a, double b) { return ge(a, number_like("ge", b, a)); }

}  // namespace gradzoo
