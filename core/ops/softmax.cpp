// Softmax along one axis, plain, masked, and in logarithms. The kernels work on contiguous rows;
// another axis is brought to the back first. Masked places are known to backward by their output
// (0, or -inf in logarithms), so the mask is not kept.
#include "core/ops/softmax.h"

#include <limits>

#include "core/create.h"
#include "core/kernels/softmax.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// f over the last axis of x, where `axis` is brought for the time.
template <class F>
Tensor along(const char* op, const Tensor& x, std::int64_t axis, F f) {
  const int normal = normalize_axis(op, axis, x.dim());
  if (normal == x.dim() - 1) return f(x);
  return transpose(f(transpose(x, normal, -1)), normal, -1);
}

// The same for f(x, mask). A mask with fewer axes than x is stretched, without a copy, to have the
// axis that moves.
template <class F>
Tensor along(const char* op, const Tensor& x, const Tensor& mask, std::int64_t axis, F f) {
  const int normal = normalize_axis(op, axis, x.dim());
  if (normal == x.dim() - 1) return f(x, mask);
  const Tensor moved = transpose(expand(mask, x.shape()), normal, -1);
  return transpose(f(transpose(x, normal, -1), moved), normal, -1);
}

std::int64_t row_count(const Tensor& x) { return x.shape().sub(0, x.dim() - 1).numel(); }

// y = kernel(x), or kernel(y, g), over the rows of contiguous copies.
template <class Kernel>
Tensor over_rows(const char* op, const Tensor& x, Kernel kernel) {
  const Tensor packed = contiguous(x.detach());
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_floating(op, x.dtype(), [&]<class T>() {
    kernel(packed.data<T>(), row_count(x), x.size(-1), mutable_data<T>(y));
  });
  return y;
}

template <class Kernel>
Tensor over_rows(const char* op, const Tensor& y, const Tensor& g, Kernel kernel) {
  const Tensor packed = contiguous(g.detach());
  const Tensor dx = empty(y.shape(), y.dtype());
  dispatch_floating(op, y.dtype(), [&]<class T>() {
    kernel(y.data<T>(), packed.data<T>(), row_count(y), y.size(-1), mutable_data<T>(dx));
  });
  return dx;
}

// y = kernel(x, mask) over the rows of a contiguous copy of x; the mask is read where it lies.
template <class Kernel>
Tensor over_masked_rows(const char* op, const Tensor& x, const Tensor& mask, Kernel kernel) {
  const Shape strides = broadcast_strides(mask, x.shape());
  const int last = x.dim() - 1;
  kernels::RowMask rows{mask.data<bool>(),
                        make_walk<1>(x.shape().sub(0, last), {strides.sub(0, last)}),
                        strides.back()};
  const Tensor packed = contiguous(x.detach());
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_floating(op, x.dtype(), [&]<class T>() {
    kernel(packed.data<T>(), rows, x.size(-1), mutable_data<T>(y));
  });
  return y;
}

void check_mask(const char* op, const Tensor& x, const Tensor& mask) {
  check(mask.dtype() == DType::boolean, "{}: the mask must be boolean, got {}", op, mask.dtype());
  check(broadcast_shapes(op, mask.shape(), x.shape()) == x.shape(),
        "{}: a mask of shape {} cannot be broadcast to x of shape {}", op, mask.shape(), x.shape());
}

// dx = y (g - sum(g y)), read only where y is not 0.
Tensor softmax_gradient(const BackwardContext& c) {
  const Tensor y = c.saved(0);
  if (!modes().grad_enabled) {
    return over_rows("softmax", y, c.grad, [](auto... p) { kernels::softmax_backward(p...); });
  }
  const Tensor kept = ne(y, 0.0);
  const Tensor g = where(kept, c.grad, zeros_like(c.grad));
  return where(kept, y * (g - sum(g * y, {-1}, true)), zeros_like(g));
}

// dx = g - exp(y) sum(g).
Tensor log_softmax_gradient(const BackwardContext& c) {
  const Tensor y = c.saved(0);
  if (!modes().grad_enabled) {
    return over_rows("log_softmax", y, c.grad,
                     [](auto... p) { kernels::log_softmax_backward(p...); });
  }
  return c.grad - exp(y) * sum(c.grad, {-1}, true);
}

// The same, read only where y is not -inf.
Tensor masked_log_softmax_gradient(const BackwardContext& c) {
  const Tensor y = c.saved(0);
  if (!modes().grad_enabled) {
    return over_rows("log_softmax", y, c.grad,
                     [](auto... p) { kernels::masked_log_softmax_backward(p...); });
  }
  const Tensor kept = ne(y, -kInfinity);
  const Tensor g = where(kept, c.grad, zeros_like(c.grad));
  return where(kept, g - exp(y) * sum(g, {-1}, true), zeros_like(g));
}

}  // namespace

Tensor softmax(const Tensor& x, std::int64_t axis) {
  return along("softmax", x, axis, [](const Tensor& rows) {
    const Tensor y = over_rows("softmax", rows, [](auto... p) { kernels::softmax(p...); });
    return record(
        y, {"softmax", "x", "y = exp(x) / sum(exp(x)) in each row", "dx = y * (dy - sum(dy * y))"},
        {rows}, {y}, [](const BackwardContext& c) -> Grads { return {softmax_gradient(c)}; });
  });
}

Tensor softmax(const Tensor& x, const Tensor& mask, std::int64_t axis) {
  check_mask("softmax", x, mask);
  return along("softmax", x, mask, axis, [](const Tensor& rows, const Tensor& row_mask) {
    const Tensor y = over_masked_rows("softmax", rows, row_mask,
                                      [](auto... p) { kernels::masked_softmax(p...); });
    return record(
        y,
        {"softmax", "x, mask", "y = exp(x) / sum(exp(x)) over where mask in each row, 0 elsewhere",
         "dx = y * (dy - sum(dy * y))"},
        {rows, row_mask}, {y}, [](const BackwardContext& c) -> Grads {
          return {softmax_gradient(c), Tensor()};
        });
  });
}

Tensor log_softmax(const Tensor& x, std::int64_t axis) {
  return along("log_softmax", x, axis, [](const Tensor& rows) {
    const Tensor y = over_rows("log_softmax", rows, [](auto... p) { kernels::log_softmax(p...); });
    return record(
        y,
        {"log_softmax", "x", "y = x - log(sum(exp(x))) in each row", "dx = dy - exp(y) * sum(dy)"},
        {rows}, {y}, [](const BackwardContext& c) -> Grads { return {log_softmax_gradient(c)}; });
  });
}

Tensor log_softmax(const Tensor& x, const Tensor& mask, std::int64_t axis) {
  check_mask("log_softmax", x, mask);
  return along("log_softmax", x, mask, axis, [](const Tensor& rows, const Tensor& row_mask) {
    const Tensor y = over_masked_rows("log_softmax", rows, row_mask,
                                      [](auto... p) { kernels::masked_log_softmax(p...); });
    return record(y,
                  {"log_softmax", "x, mask",
                   "y = x - log(sum(exp(x))) over where mask in each row, -inf elsewhere",
                   "dx = dy - exp(y) * sum(dy) over where mask, 0 elsewhere"},
                  {rows, row_mask}, {y}, [](const BackwardContext& c) -> Grads {
                    return {masked_log_softmax_gradient(c), Tensor()};
                  });
  });
}

}  // namespace gradzoo
