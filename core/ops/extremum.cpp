// The largest and the smallest along axes, and where they are.
#include "core/kernels/reduce.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduce.h"
#include "core/ops/reduction.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// Where x is the extremum y of its row: true for every tied element; NaN is equal to NaN here.
Tensor is_extremum(const Tensor& x, const Tensor& y) {
  return logical_or(eq(x, y), logical_and(ne(x, x), ne(y, y)));
}

template <class Kernel>
Tensor extremum(const Op& op, const Tensor& x, const Shape& axes, bool keepdim, Kernel kernel) {
  const Reduction r(op.name, x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, x.dtype());
  check(r.count > 0 || y.numel() == 0, "{}: nothing to choose from, the shape is {}", op.name,
        x.shape());
  dispatch_numeric(op.name, x.dtype(), [&]<class T>() {
    kernel(make_fold(x, r.reduced), x.data<T>(), mutable_data<T>(y));
  });
  return record(y, op, {x}, {x, y}, [kept = r.kept](const BackwardContext& c) -> Grads {
    const Tensor best = unreduced(c.saved(1).detach(), kept);
    const Tensor chosen = to(is_extremum(c.saved(0).detach(), best), c.grad.dtype());
    return {unreduced(c.grad, kept) * (chosen / sum_to(chosen, kept))};
  });
}

template <class Kernel>
Tensor position(const Op& op, const Tensor& x, std::optional<std::int64_t> axis, bool keepdim,
                Kernel kernel) {
  const Reduction r(op.name, x.shape(), axis ? Shape{*axis} : Shape{}, keepdim);
  const Tensor y = empty(r.out, DType::i64);
  check(r.count > 0 || y.numel() == 0, "{}: nothing to choose from, the shape is {}", op.name,
        x.shape());
  const Tensor best = empty(r.out, x.dtype());
  dispatch_numeric(op.name, x.dtype(), [&]<class T>() {
    const kernels::Fold fold = make_fold(x, r.reduced, /*keep_order=*/true);
    kernel(fold, x.data<T>(), mutable_data<T>(best));
    kernels::find(fold, x.data<T>(), best.data<T>(), mutable_data<std::int64_t>(y));
  });
  return record(y, op, {x}, {}, no_gradient(op.name));
}

}  // namespace

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) {
  return extremum({"max", "x", "y = the largest x along some axes",
                   "dx = dy where x = y, shared evenly by ties, else 0"},
                  x, axes, keepdim, [](auto... p) { kernels::max(p...); });
}

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) {
  return extremum({"min", "x", "y = the smallest x along some axes",
                   "dx = dy where x = y, shared evenly by ties, else 0"},
                  x, axes, keepdim, [](auto... p) { kernels::min(p...); });
}

Tensor argmax(const Tensor& x, std::optional<std::int64_t> axis, bool keepdim) {
  return position({"argmax", "x", "y = the index of the largest x along one axis", "no gradient"},
                  x, axis, keepdim, [](auto... p) { kernels::max(p...); });
}

Tensor argmin(const Tensor& x, std::optional<std::int64_t> axis, bool keepdim) {
  return position({"argmin", "x", "y = the index of the smallest x along one axis", "no gradient"},
                  x, axis, keepdim, [](auto... p) { kernels::min(p...); });
}

}  // namespace gradzoo
