// Variance and standard deviation, log-sum-exp, norms.
#include "core/kernels/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/create.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduce.h"
#include "core/ops/reduction.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// x - mean(x) over the axes that have extent 1 in `kept`; x is not empty.
Tensor centred(const Tensor& x, const Shape& kept) {
  return x - sum_to(x, kept) / static_cast<double>(x.numel() / kept.numel());
}

// a / b where b is not 0, else 0, in all derivatives.
Tensor ratio_or_zero(const Tensor& a, const Tensor& b) {
  const Tensor zero = eq(b.detach(), 0.0);
  return masked_fill(a / masked_fill(b, zero, 1), zero, 0);
}

// y = kernel(x, mean of x, divisor).
template <class Kernel>
Tensor spread(const char* op, const Tensor& x, const Reduction& r, double divisor, Kernel kernel) {
  const Tensor y = empty(r.out, x.dtype());
  const Tensor mean = empty(r.out, DType::f64);  // rounded to f32 it would show in the result
  dispatch_floating(op, x.dtype(), [&]<class T>() {
    const kernels::Fold fold = make_fold(x, r.reduced);
    kernels::mean(fold, x.data<T>(), mutable_data<double>(mean));
    kernel(fold, x.data<T>(), mean.data<double>(), divisor, mutable_data<T>(y));
  });
  return y;
}

double degrees_of_freedom(const Reduction& r, double correction) {
  return std::max(0.0, static_cast<double>(r.count) - correction);
}

}  // namespace

Tensor var(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  const Reduction r("var", x.shape(), axes, keepdim);
  const double divisor = degrees_of_freedom(r, correction);
  const Tensor y = spread("var", x, r, divisor, [](auto... p) { kernels::variance(p...); });
  return record(y,
                {"var", "x", "y = sum((x - mean(x))^2) / d, d = n - correction",
                 "dx = dy * 2 / d * (x - mean(x))"},
                {x}, {x}, [kept = r.kept, divisor](const BackwardContext& c) -> Grads {
                  const Tensor x = c.saved(0);
                  if (x.numel() == 0) return {zeros_like(x)};
                  return {unreduced(c.grad * (2 / divisor), kept) * centred(x, kept)};
                });
}

Tensor std(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  const Reduction r("std", x.shape(), axes, keepdim);
  const double divisor = degrees_of_freedom(r, correction);
  const Tensor y = spread("std", x, r, divisor, [](auto... p) { kernels::deviation(p...); });
  return record(y,
                {"std", "x", "y = sqrt(sum((x - mean(x))^2) / d), d = n - correction",
                 "dx = dy / y / d * (x - mean(x)), 0 where y = 0"},
                {x}, {x, y}, [kept = r.kept, divisor](const BackwardContext& c) -> Grads {
                  const Tensor x = c.saved(0);
                  if (x.numel() == 0) return {zeros_like(x)};
                  const Tensor scale = ratio_or_zero(c.grad, c.saved(1)) * (1 / divisor);
                  return {unreduced(scale, kept) * centred(x, kept)};
                });
}

Tensor logsumexp(const Tensor& x, const Shape& axes, bool keepdim) {
  const Reduction r("logsumexp", x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, x.dtype());
  dispatch_floating("logsumexp", x.dtype(), [&]<class T>() {
    const kernels::Fold fold = make_fold(x, r.reduced);
    kernels::max(fold, x.data<T>(), mutable_data<T>(y));
    kernels::logsumexp(fold, x.data<T>(), mutable_data<T>(y));
  });
  return record(
      y, {"logsumexp", "x", "y = log(sum(exp(x))) over some axes", "dx = dy * exp(x - y)"}, {x},
      {x, y}, [kept = r.kept](const BackwardContext& c) -> Grads {
        // Of nothing but -inf nothing contributes: exp(-inf - 0) = 0.
        const Tensor y = c.saved(1);
        const Tensor nothing = eq(y.detach(), -std::numeric_limits<double>::infinity());
        const Tensor softmax = exp(c.saved(0) - unreduced(masked_fill(y, nothing, 0), kept));
        return {unreduced(c.grad, kept) * softmax};
      });
}

namespace {

// |x| where it is the largest of its row, its gradient shared by the ties: 1 / their number there.
Tensor share_of_largest(const Tensor& x, const Tensor& largest) {
  const Tensor chosen = to(eq(abs(x), largest), x.dtype());
  return chosen / sum_to(chosen, largest.shape());
}

// dy/dx of the p-norm y; y has extent 1 along the reduced axes. sign(x) counts as a constant.
Tensor norm_slope(const Tensor& x, const Tensor& y, double p) {
  if (p == 2) return ratio_or_zero(x, expand(y, x.shape()));
  const Tensor sign_x = sign(x.detach());
  if (p == 1) return sign_x;
  if (std::isinf(p)) return sign_x * share_of_largest(x.detach(), y.detach());
  // (|x| / y)^(p - 1); where x is 0 the sign is, and any finite number will do.
  const Tensor zero = eq(x.detach(), 0.0);
  const Tensor ratio = masked_fill(ratio_or_zero(abs(x), expand(y, x.shape())), zero, 1);
  return sign_x * pow(ratio, p - 1);
}

Op norm_op(double p) {
  if (p == 1) return {"norm", "x", "y = sum of |x| over some axes", "dx = dy * sign(x)"};
  if (p == 2) {
    return {"norm", "x", "y = sqrt(sum of x^2 over some axes)", "dx = dy * x / y, 0 where y = 0"};
  }
  if (std::isinf(p)) {
    return {"norm", "x", "y = the largest |x| along some axes",
            "dx = dy * sign(x) where |x| = y, shared by ties, else 0"};
  }
  return {"norm", "x", "y = (sum of |x|^p over some axes)^(1 / p)",
          "dx = dy * sign(x) * (|x| / y)^(p - 1), 0 where y = 0"};
}

}  // namespace

Tensor norm(const Tensor& x, const Shape& axes, bool keepdim, double p) {
  check(p > 0, "norm: p must be positive, got {}", p);
  const Reduction r("norm", x.shape(), axes, keepdim);
  const Tensor y = empty(r.out, x.dtype());
  dispatch_floating("norm", x.dtype(), [&]<class T>() {
    const kernels::Fold fold = make_fold(x, r.reduced);
    T* out = mutable_data<T>(y);
    if (p == 1) return kernels::norm_1(fold, x.data<T>(), out);
    if constexpr (sizeof(T) == sizeof(float)) {
      if (p == 2) return kernels::norm_2(fold, x.data<T>(), out);
    }
    kernels::norm_inf(fold, x.data<T>(), out);
    if (!std::isinf(p)) kernels::norm_p(fold, x.data<T>(), p, out);
  });
  return record(y, norm_op(p), {x}, {x, y}, [kept = r.kept, p](const BackwardContext& c) -> Grads {
    return {unreduced(c.grad, kept) * norm_slope(c.saved(0), unreduced(c.saved(1), kept), p)};
  });
}

}  // namespace gradzoo
