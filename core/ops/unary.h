// Elementwise functions of one tensor, f32 or f64 (neg: i64 too). Each returns a tensor shaped like
// x. NaN stays NaN.
#pragma once

#include "core/tensor.h"

namespace gradzoo {

Tensor neg(const Tensor& x);
/// Results too small for a normal number are 0.
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// log(1 + x), exact near 0.
Tensor log1p(const Tensor& x);
/// Gradient at 0: infinity, as the formula says, but 0 where the upstream gradient is 0: a root
/// that where() did not take must not give NaN.
Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x).
Tensor rsqrt(const Tensor& x);
Tensor square(const Tensor& x);
/// Gradient at 0: 0.
Tensor abs(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
/// log(sigmoid(x)), exact for large |x|.
Tensor log_sigmoid(const Tensor& x);
/// max(x, 0). Gradient at 0: 0.
Tensor relu(const Tensor& x);
/// x where x > 0, else slope * x. Gradient at 0: slope.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);

/// Forms of gelu: x * Phi(x) exactly, or its approximation by tanh (Hendrycks and Gimpel 2016).
enum class Gelu { erf, tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf);
/// x * sigmoid(x).
Tensor silu(const Tensor& x);
/// log(1 + exp(x)), without overflow.
Tensor softplus(const Tensor& x);
Tensor reciprocal(const Tensor& x);
/// x cut to [low, high]; NaN stays NaN. The gradient passes inside and at the bounds. Throws
/// unless low <= high.
Tensor clamp(const Tensor& x, double low, double high);
/// -1, 0 or 1. Has no gradient: asking for one throws.
Tensor sign(const Tensor& x);
/// The largest integer not above x. Has no gradient: asking for one throws.
Tensor floor(const Tensor& x);

Tensor operator-(const Tensor& x);

}  // namespace gradzoo
