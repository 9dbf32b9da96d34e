// Normalisation over the last axis. layer_norm and rms_norm differ in one thing: whether the mean
// is subtracted first ("centered").
#include "core/ops/norm.h"

#include "core/create.h"
#include "core/kernels/norm.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

std::int64_t row_count(const Tensor& x) { return x.shape().sub(0, x.dim() - 1).numel(); }

// The parameter, or a constant in its place.
Tensor parameter_or(const char* op, const char* name, const Tensor& parameter, double value,
                    const Tensor& x) {
  if (!parameter.defined()) return full({x.size(-1)}, value, x.dtype());
  check(parameter.dtype() == x.dtype(), "{}: {} is {}, x is {}", op, name, parameter.dtype(),
        x.dtype());
  check(parameter.dim() == 1 && parameter.size(0) == x.size(-1),
        "{}: {} must have the extent of x's last axis, got {} for x of shape {}", op, name,
        parameter.shape(), x.shape());
  return parameter;
}

// In one pass over x: dx, and dweight and dbias in parts that are added up after it.
Grads fused_gradients(const BackwardContext& c, const char* op, bool centered) {
  const Tensor x = contiguous(c.saved(0));
  const Tensor weight = contiguous(c.saved(1));
  const Tensor g = contiguous(c.grad);
  const std::int64_t rows = row_count(x);
  const std::int64_t n = x.size(-1);
  if (x.numel() == 0) return {zeros_like(x), zeros({n}, x.dtype()), zeros({n}, x.dtype())};
  const std::int64_t block = kernels::norm_block_rows(n);
  const Tensor dx = empty(x.shape(), x.dtype());
  const Tensor partial = empty({(rows + block - 1) / block, 2, n}, x.dtype());
  dispatch_floating(op, x.dtype(), [&]<class T>() {
    kernels::normalize_backward(centered, x.data<T>(), weight.data<T>(), c.saved(2).data<T>(),
                                g.data<T>(), rows, n, mutable_data<T>(dx),
                                mutable_data<T>(partial));
  });
  if (!c.needs(1) && !c.needs(2)) return {dx, Tensor(), Tensor()};
  const Tensor parameters = sum(partial, {0});
  return {dx, select(parameters, 0, 0), select(parameters, 0, 1)};
}

// With z the normalised x: dx = scale (u - mean(u) - z mean(u z)), where u = g weight.
Grads composed_gradients(const BackwardContext& c, bool centered, double eps) {
  const Tensor x = c.saved(0);
  const Tensor d = centered ? x - mean(x, {-1}, true) : x;
  const Tensor scale = rsqrt(mean(square(d), {-1}, true) + eps);
  const Tensor z = d * scale;
  Grads grads(3);
  if (c.needs(0)) {
    const Tensor u = c.grad * c.saved(1);
    const Tensor centred_u = centered ? u - mean(u, {-1}, true) : u;
    grads[0] = scale * (centred_u - z * mean(u * z, {-1}, true));
  }
  if (c.needs(1)) grads[1] = sum_to(c.grad * z, c.shape(1));
  if (c.needs(2)) grads[2] = sum_to(c.grad, c.shape(2));
  return grads;
}

Tensor normalize(const Op& op, bool centered, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, double eps) {
  const Tensor packed = contiguous(x.detach());
  const Tensor packed_weight = contiguous(weight.detach());
  const Tensor packed_bias = contiguous(bias.detach());
  const std::int64_t rows = row_count(x);
  const Tensor y = empty(x.shape(), x.dtype());
  const Tensor stats = empty({rows, 2}, x.dtype());
  dispatch_floating(op.name, x.dtype(), [&]<class T>() {
    if (x.numel() == 0) return;
    kernels::normalize(centered, packed.data<T>(), packed_weight.data<T>(), packed_bias.data<T>(),
                       eps, rows, x.size(-1), mutable_data<T>(y), mutable_data<T>(stats));
  });
  return record(y, op, {x, weight, bias}, {x, weight, stats},
                [op = op.name, centered, eps](const BackwardContext& c) -> Grads {
                  if (!modes().grad_enabled) return fused_gradients(c, op, centered);
                  return composed_gradients(c, centered, eps);
                });
}

constexpr Op kLayerNorm{
    "layer_norm", "x, w, b",
    "y = w * z + b, z = (x - mean(x)) / s, s = sqrt(var(x) + eps) in each row",
    "dx = (u - mean(u) - z*mean(u*z)) / s, u = dy*w; dw = sum(dy*z); db = sum(dy)"};
constexpr Op kRmsNorm{"rms_norm", "x, w, b",
                      "y = w * z + b, z = x / s, s = sqrt(mean(x^2) + eps) in each row; b = 0",
                      "dx = (u - z*mean(u*z)) / s, u = dy*w; dw = sum(dy*z); db = sum(dy)"};

void check_rows(const char* op, const Tensor& x) {
  check(x.dim() >= 1, "{}: x must have at least one axis", op);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_rows("layer_norm", x);
  return normalize(kLayerNorm, true, x, parameter_or("layer_norm", "weight", weight, 1, x),
                   parameter_or("layer_norm", "bias", bias, 0, x), eps);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_rows("rms_norm", x);
  return normalize(kRmsNorm, false, x, parameter_or("rms_norm", "weight", weight, 1, x),
                   parameter_or("rms_norm", "bias", Tensor(), 0, x), eps);
}

}  // namespace gradzoo
