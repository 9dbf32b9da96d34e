// Sums and means, the adjoint of broadcasting, and logic over axes.
#include "core/ops/reduce.h"

#include <algorithm>
#include <type_traits>

#include "core/kernels/reduce.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduction.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

template <class Kernel>
Tensor logic(const Op& op, const Tensor& x, const Shape& axes, bool keepdim, Kernel kernel) {
  check(x.dtype() == DType::boolean, "{}: the tensor must be boolean, got {}", op.name, x.dtype());
  const Reduction r(op.name, x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, DType::boolean);
  kernel(make_fold(x, r.reduced), x.data<bool>(), mutable_data<bool>(y));
  return record(y, op, {x}, {}, no_gradient(op.name));
}

}  // namespace

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) {
  const Reduction r("sum", x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, x.dtype() == DType::boolean ? DType::i64 : x.dtype());
  dispatch_all(x.dtype(), [&]<class T>() {
    using Y = std::conditional_t<std::is_same_v<T, bool>, std::int64_t, T>;
    kernels::sum(make_fold(x, r.reduced), x.data<T>(), mutable_data<Y>(y));
  });
  return record(y, {"sum", "x", "y = sum of x over some axes", "dx = dy, repeated along them"}, {x},
                {}, [kept = r.kept](const BackwardContext& c) -> Grads {
                  return {expand(unreduced(c.grad, kept), c.shape(0))};
                });
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  const Reduction r("mean", x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, x.dtype());
  dispatch_floating("mean", x.dtype(), [&]<class T>() {
    kernels::mean(make_fold(x, r.reduced), x.data<T>(), mutable_data<T>(y));
  });
  // The gradient of a mean of nothing is empty, and must not bring in a NaN either.
  const double count = static_cast<double>(std::max<std::int64_t>(r.count, 1));
  return record(y,
                {"mean", "x", "y = sum of x over some axes / n, n the number of summands",
                 "dx = dy / n, repeated along them"},
                {x}, {}, [kept = r.kept, count](const BackwardContext& c) -> Grads {
                  return {expand(unreduced(c.grad / count, kept), c.shape(0))};
                });
}

Tensor any(const Tensor& x, const Shape& axes, bool keepdim) {
  return logic({"any", "x", "y = true where any x along some axes is", "no gradient"}, x, axes,
               keepdim, kernels::any);
}

Tensor all(const Tensor& x, const Shape& axes, bool keepdim) {
  return logic({"all", "x", "y = true where all x along some axes are", "no gradient"}, x, axes,
               keepdim, kernels::all);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int shift = x.dim() - shape.rank();
  std::array<bool, kMaxRank> reduced{};
  for (int i = 0; i < x.dim(); ++i) {
    const bool stretched = i < shift || (shape[i - shift] == 1 && x.shape()[i] != 1);
    reduced[static_cast<std::size_t>(i)] = stretched;
    check(stretched || (shift >= 0 && shape[i - shift] == x.shape()[i]),
          "sum_to: {} is not a shape that broadcasts to {}", shape, x.shape());
  }
  check(shift >= 0, "sum_to: {} is not a shape that broadcasts to {}", shape, x.shape());
  const Tensor y = empty(shape, x.dtype());
  dispatch_numeric("sum_to", x.dtype(), [&]<class T>() {
    kernels::sum(make_fold(x, reduced), x.data<T>(), mutable_data<T>(y));
  });
  return record(y,
                {"sum_to", "x", "y = x summed to a shape that broadcasts to its own",
                 "dx = dy, repeated to the shape of x"},
                {x}, {},
                [](const BackwardContext& c) -> Grads { return {expand(c.grad, c.shape(0))}; });
}

}  // namespace gradzoo
