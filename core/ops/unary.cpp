// Elementwise functions of one tensor: the forward kernel, and the derivative as a formula.
#include "core/ops/unary.h"

#include "core/create.h"
#include "core/kernels/unary.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"

namespace gradzoo {
namespace {

// y = kernel(x), elementwise. The kernel's element type follows from the pointers it is given.
template <class Kernel>
Tensor map(const char* op, const Tensor& x, Kernel kernel) {
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_floating(op, x.dtype(),
                    [&]<class T>() { kernel(walk_over(y, x), x.data<T>(), mutable_data<T>(y)); });
  return y;
}

}  // namespace

Tensor neg(const Tensor& x) {
  const Tensor y = map("neg", x, [](auto... p) { kernels::neg(p...); });
  return record(y, "neg", {x}, {}, [](const BackwardContext& c) -> Grads { return {neg(c.grad)}; });
}

Tensor exp(const Tensor& x) {
  const Tensor y = map("exp", x, [](auto... p) { kernels::exp(p...); });
  return record(y, "exp", {x}, {y},
                [](const BackwardContext& c) -> Grads { return {c.grad * c.saved(0)}; });
}

Tensor relu(const Tensor& x) {
  const Tensor y = map("relu", x, [](auto... p) { kernels::relu(p...); });
  return record(y, "relu", {x}, {y}, [](const BackwardContext& c) -> Grads {
    return {where(gt(c.saved(0), 0.0), c.grad, zeros_like(c.grad))};
  });
}

Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace gradzoo
