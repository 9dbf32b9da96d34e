// Order along an axis: find the indices, then gather.
#include "core/ops/order.h"

#include "core/create.h"
#include "core/kernels/index.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/index.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// The result, by means of ops that neither graph nor trace shall show.
Ordered arranged(const char* op, const Tensor& x, std::int64_t k, int axis, bool largest) {
  const ModeGuard guard;
  modes().grad_enabled = false;
  modes().trace = nullptr;
  const Tensor lines = contiguous(transpose(x, axis, -1));
  Shape shape = lines.shape();
  const std::int64_t n = shape.back();
  const std::int64_t count = shape.sub(0, shape.rank() - 1).numel();
  shape[shape.rank() - 1] = k;
  const Tensor places = empty(shape, DType::i64);
  dispatch_numeric(op, x.dtype(), [&]<class T>() {
    kernels::order(count, n, k, largest, lines.data<T>(), mutable_data<std::int64_t>(places));
  });
  const Tensor indices = contiguous(transpose(places, axis, -1));
  return {gather(x, axis, indices), indices};
}

Ordered order(const Op& op, const Tensor& x, std::int64_t k, int axis, bool largest) {
  const Ordered y = arranged(op.name, x, k, axis, largest);
  record(y.values, op, {x}, {y.indices}, [axis](const BackwardContext& c) -> Grads {
    return {scatter_add(zeros(c.shape(0), c.grad.dtype()), axis, c.saved(0), c.grad)};
  });
  return y;
}

}  // namespace

Ordered topk(const Tensor& x, std::int64_t k, std::int64_t axis, bool largest) {
  const int i = normalize_axis("topk", axis, x.dim());
  check(k >= 0 && k <= x.shape()[i], "topk: k must be in [0, {}] on axis {} of shape {}, got {}",
        x.shape()[i], axis, x.shape(), k);
  return order({"topk", "x", "y = the k best x along one axis",
                "dx = dy where each came from, else 0; the choice has no gradient"},
               x, k, i, largest);
}

Ordered sort(const Tensor& x, std::int64_t axis, bool descending) {
  const int i = normalize_axis("sort", axis, x.dim());
  return order({"sort", "x", "y = x in order along one axis",
                "dx = dy where each came from; the order has no gradient"},
               x, x.shape()[i], i, descending);
}

}  // namespace gradzoo
