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

constexpr double kOneOverRootTwoPi = 0.39894228040143267794;
constexpr double kRootTwoOverPi = 0.79788456080286535588;

// y = kernel(x), elementwise. The kernel's element type follows from the pointers it is given.
template <class Kernel>
Tensor map(const char* op, const Tensor& x, Kernel kernel) {
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_floating(op, x.dtype(),
                    [&]<class T>() { kernel(walk_over(y, x), x.data<T>(), mutable_data<T>(y)); });
  return y;
}

// The vjp of y = f(x), of which x or y was saved: `kernel` computes grad * f'(x) in one pass;
// `formula` is the same in Tensor ops, for when the gradient is itself recorded.
template <class Kernel, class Formula>
Vjp fused_or_composed(Kernel kernel, Formula formula) {
  return [=](const BackwardContext& c) -> Grads {
    const Tensor kept = c.saved(0);
    if (modes().grad_enabled) return {formula(c.grad, kept)};
    const Tensor dx = empty(c.grad.shape(), c.grad.dtype());
    dispatch_floating("backward", dx.dtype(), [&]<class T>() {
      kernel(walk_over(dx, c.grad, kept), c.grad.data<T>(), kept.data<T>(), mutable_data<T>(dx));
    });
    return {dx};
  };
}

}  // namespace

Tensor neg(const Tensor& x) {
  const Tensor y = empty(x.shape(), x.dtype());
  dispatch_numeric("neg", x.dtype(), [&]<class T>() {
    kernels::neg(walk_over(y, x), x.data<T>(), mutable_data<T>(y));
  });
  return record(y, {"neg", "x", "y = -x", "dx = -dy"}, {x}, {},
                [](const BackwardContext& c) -> Grads { return {neg(c.grad)}; });
}

Tensor exp(const Tensor& x) {
  const Tensor y = map("exp", x, [](const auto&... p) { kernels::exp(p...); });
  return record(y, {"exp", "x", "y = exp(x)", "dx = dy * y"}, {x}, {y},
                [](const BackwardContext& c) -> Grads { return {c.grad * c.saved(0)}; });
}

Tensor log(const Tensor& x) {
  const Tensor y = map("log", x, [](const auto&... p) { kernels::log(p...); });
  return record(y, {"log", "x", "y = log(x)", "dx = dy / x"}, {x}, {x},
                [](const BackwardContext& c) -> Grads { return {c.grad / c.saved(0)}; });
}

Tensor log1p(const Tensor& x) {
  const Tensor y = map("log1p", x, [](const auto&... p) { kernels::log1p(p...); });
  return record(y, {"log1p", "x", "y = log(1 + x)", "dx = dy / (1 + x)"}, {x}, {x},
                [](const BackwardContext& c) -> Grads { return {c.grad / (c.saved(0) + 1)}; });
}

Tensor sqrt(const Tensor& x) {
  const Tensor y = map("sqrt", x, [](const auto&... p) { kernels::sqrt(p...); });
  return record(y, {"sqrt", "x", "y = sqrt(x)", "dx = dy / (2 * y)"}, {x}, {y},
                fused_or_composed([](const auto&... p) { kernels::sqrt_backward(p...); },
                                  [](const Tensor& grad, const Tensor& root) {
                                    const Tensor unused = logical_and(eq(grad, 0), eq(root, 0));
                                    return grad * 0.5 / masked_fill(root, unused, 1);
                                  }));
}

Tensor rsqrt(const Tensor& x) {
  const Tensor y = map("rsqrt", x, [](const auto&... p) { kernels::rsqrt(p...); });
  return record(
      y, {"rsqrt", "x", "y = 1 / sqrt(x)", "dx = -dy * y^3 / 2"}, {x}, {y},
      [](const BackwardContext& c) -> Grads { return {c.grad * -0.5 * pow(c.saved(0), 3)}; });
}

Tensor square(const Tensor& x) {
  const Tensor y = map("square", x, [](const auto&... p) { kernels::square(p...); });
  return record(y, {"square", "x", "y = x^2", "dx = dy * 2 * x"}, {x}, {x},
                [](const BackwardContext& c) -> Grads { return {c.grad * (c.saved(0) * 2)}; });
}

Tensor abs(const Tensor& x) {
  const Tensor y = map("abs", x, [](const auto&... p) { kernels::abs(p...); });
  return record(
      y, {"abs", "x", "y = |x|", "dx = dy * sign(x)"}, {x}, {x},
      [](const BackwardContext& c) -> Grads {
        return {c.grad * sign(c.saved(0).detach())};  // the sign is constant but for the kink
      });
}

Tensor sin(const Tensor& x) {
  const Tensor y = map("sin", x, [](const auto&... p) { kernels::sin(p...); });
  return record(y, {"sin", "x", "y = sin(x)", "dx = dy * cos(x)"}, {x}, {x},
                [](const BackwardContext& c) -> Grads { return {c.grad * cos(c.saved(0))}; });
}

Tensor cos(const Tensor& x) {
  const Tensor y = map("cos", x, [](const auto&... p) { kernels::cos(p...); });
  return record(y, {"cos", "x", "y = cos(x)", "dx = -dy * sin(x)"}, {x}, {x},
                [](const BackwardContext& c) -> Grads { return {neg(c.grad * sin(c.saved(0)))}; });
}

Tensor reciprocal(const Tensor& x) {
  const Tensor y = map("reciprocal", x, [](const auto&... p) { kernels::reciprocal(p...); });
  return record(
      y, {"reciprocal", "x", "y = 1 / x", "dx = -dy * y^2"}, {x}, {y},
      [](const BackwardContext& c) -> Grads { return {neg(c.grad * square(c.saved(0)))}; });
}

Tensor clamp(const Tensor& x, double low, double high) {
  check(low <= high, "clamp: low must not be above high, got {} and {}", low, high);
  const Tensor y = map("clamp", x, [=](const auto&... p) { kernels::clamp(p..., low, high); });
  return record(
      y, {"clamp", "x", "y = min(max(x, low), high)", "dx = dy where low <= x <= high, else 0"},
      {x}, {x},
      fused_or_composed([=](const auto&... p) { kernels::clamp_backward(p..., low, high); },
                        [=](const Tensor& grad, const Tensor& in) {
                          const Tensor inside = logical_and(ge(in, low), le(in, high));
                          return masked_fill(grad, logical_not(inside), 0);
                        }));
}

Tensor sign(const Tensor& x) {
  const Tensor y = map("sign", x, [](const auto&... p) { kernels::sign(p...); });
  return record(y, {"sign", "x", "y = sign(x): -1, 0 or 1", "no gradient"}, {x}, {},
                no_gradient("sign"));
}

Tensor floor(const Tensor& x) {
  const Tensor y = map("floor", x, [](const auto&... p) { kernels::floor(p...); });
  return record(y, {"floor", "x", "y = floor(x), the largest whole number <= x", "no gradient"},
                {x}, {}, no_gradient("floor"));
}

Tensor tanh(const Tensor& x) {
  const Tensor y = map("tanh", x, [](const auto&... p) { kernels::tanh(p...); });
  return record(
      y, {"tanh", "x", "y = tanh(x)", "dx = dy * (1 - y^2)"}, {x}, {y},
      fused_or_composed([](const auto&... p) { kernels::tanh_backward(p...); },
                        [](const Tensor& grad, const Tensor& t) { return grad * (1 - t * t); }));
}

Tensor sigmoid(const Tensor& x) {
  const Tensor y = map("sigmoid", x, [](const auto&... p) { kernels::sigmoid(p...); });
  return record(
      y, {"sigmoid", "x", "y = 1 / (1 + exp(-x))", "dx = dy * y * (1 - y)"}, {x}, {y},
      fused_or_composed([](const auto&... p) { kernels::sigmoid_backward(p...); },
                        [](const Tensor& grad, const Tensor& s) { return grad * (s * (1 - s)); }));
}

Tensor log_sigmoid(const Tensor& x) {
  const Tensor y = map("log_sigmoid", x, [](const auto&... p) { kernels::log_sigmoid(p...); });
  return record(
      y, {"log_sigmoid", "x", "y = log(sigmoid(x))", "dx = dy * sigmoid(-x)"}, {x}, {x},
      fused_or_composed([](const auto&... p) { kernels::log_sigmoid_backward(p...); },
                        [](const Tensor& grad, const Tensor& in) { return grad * sigmoid(-in); }));
}

Tensor softplus(const Tensor& x) {
  const Tensor y = map("softplus", x, [](const auto&... p) { kernels::softplus(p...); });
  return record(
      y, {"softplus", "x", "y = log(1 + exp(x))", "dx = dy * sigmoid(x)"}, {x}, {x},
      fused_or_composed([](const auto&... p) { kernels::softplus_backward(p...); },
                        [](const Tensor& grad, const Tensor& in) { return grad * sigmoid(in); }));
}

Tensor relu(const Tensor& x) {
  const Tensor y = map("relu", x, [](const auto&... p) { kernels::relu(p...); });
  return record(y, {"relu", "x", "y = max(x, 0)", "dx = dy where y > 0, else 0"}, {x}, {y},
                fused_or_composed([](const auto&... p) { kernels::relu_backward(p...); },
                                  [](const Tensor& grad, const Tensor& out) {
                                    return masked_fill(grad, le(out, 0), 0);
                                  }));
}

Tensor leaky_relu(const Tensor& x, double slope) {
  const Tensor y =
      map("leaky_relu", x, [slope](const auto&... p) { kernels::leaky_relu(p..., slope); });
  return record(
      y,
      {"leaky_relu", "x", "y = x where x > 0, else slope * x",
       "dx = dy where x > 0, else slope * dy"},
      {x}, {x},
      fused_or_composed([slope](const auto&... p) { kernels::leaky_relu_backward(p..., slope); },
                        [slope](const Tensor& grad, const Tensor& in) {
                          return where(gt(in, 0), grad, grad * slope);
                        }));
}

Tensor silu(const Tensor& x) {
  const Tensor y = map("silu", x, [](const auto&... p) { kernels::silu(p...); });
  return record(y, {"silu", "x", "y = x * s, s = sigmoid(x)", "dx = dy * s * (1 + x * (1 - s))"},
                {x}, {x},
                fused_or_composed([](const auto&... p) { kernels::silu_backward(p...); },
                                  [](const Tensor& grad, const Tensor& in) {
                                    const Tensor s = sigmoid(in);
                                    return grad * (s * (1 + in * (1 - s)));
                                  }));
}

namespace {

// The distribution function of a standard normal variable, Phi; its derivative is the density.
Tensor normal_cdf(const Tensor& x) {
  const Tensor y = map("normal_cdf", x, [](const auto&... p) { kernels::normal_cdf(p...); });
  return record(y,
                {"normal_cdf", "x", "y = P(x), P the standard normal distribution function",
                 "dx = dy * exp(-x^2 / 2) / sqrt(2 * pi)"},
                {x}, {x}, [](const BackwardContext& c) -> Grads {
                  return {c.grad * (exp(square(c.saved(0)) * -0.5) * kOneOverRootTwoPi)};
                });
}

Tensor gelu_erf(const Tensor& x) {
  const Tensor y = map("gelu", x, [](const auto&... p) { kernels::gelu_erf(p...); });
  return record(y,
                {"gelu", "x", "y = x * P(x), P the standard normal distribution function",
                 "dx = dy * (P(x) + x * exp(-x^2 / 2) / sqrt(2 * pi))"},
                {x}, {x},
                fused_or_composed([](const auto&... p) { kernels::gelu_erf_backward(p...); },
                                  [](const Tensor& grad, const Tensor& in) {
                                    const Tensor density =
                                        exp(square(in) * -0.5) * kOneOverRootTwoPi;
                                    return grad * (normal_cdf(in) + in * density);
                                  }));
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, where (1 + tanh(u)) / 2 = sigmoid(2u).
Tensor gelu_tanh(const Tensor& x) {
  const Tensor y = map("gelu", x, [](const auto&... p) { kernels::gelu_tanh(p...); });
  return record(
      y,
      {"gelu", "x", "y = x * s, s = sigmoid(2 * u), u = sqrt(2 / pi) * (x + 0.044715 * x^3)",
       "dx = dy * s * (1 + x * (1 - s) * k), k = sqrt(8 / pi) * (1 + 0.134145 * x^2)"},
      {x}, {x},
      fused_or_composed([](const auto&... p) { kernels::gelu_tanh_backward(p...); },
                        [](const Tensor& grad, const Tensor& in) {
                          constexpr double k = 2 * kRootTwoOverPi;
                          const Tensor s = sigmoid(in * (square(in) * 0.044715 + 1) * k);
                          const Tensor slope = (square(in) * (3 * 0.044715) + 1) * k;
                          return grad * (s * (1 + in * (1 - s) * slope));
                        }));
}

}  // namespace

Tensor gelu(const Tensor& x, Gelu form) { return form == Gelu::erf ? gelu_erf(x) : gelu_tanh(x); }

Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace gradzoo
