// Reductions over any axes (an empty list: all of them), and running sums and products.
// keepdim leaves the reduced axes in place with extent 1.
#pragma once

#include <cstdint>
#include <optional>

#include "core/tensor.h"

namespace gradzoo {

/// f32 (right to 1e-6 relative for 10^7 elements), f64, i64; booleans are counted, as i64.
/// Empty: 0.
Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// f32, f64. Empty: NaN.
Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// The gradient is exact with zeros among the factors. Empty: 1.
Tensor prod(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// f32, f64, i64. NaN counts as the largest value. Ties share the gradient evenly. Empty: an error.
Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// NaN propagates. Ties share the gradient evenly. Empty: an error.
Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// Mean squared distance from the mean, times n / (n - correction): 1 is the unbiased form,
/// 0 the biased.
Tensor var(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);
/// Square root of var. Gradient at 0: 0.
Tensor std(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);
/// log(sum(exp(x))) without overflow. Empty, and all -inf: -inf with gradient 0.
Tensor logsumexp(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// (sum |x|^p)^(1/p); p may be infinity. Gradient at 0: 0. Empty: 0. Throws unless p > 0.
Tensor norm(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double p = 2);

/// i64: position of the largest value along the axis (without one: in row-major order). NaN is
/// the largest; ties give the lower index. Empty: an error.
Tensor argmax(const Tensor& x, std::optional<std::int64_t> axis = {}, bool keepdim = false);
/// i64: position of the smallest value; NaN first, ties give the lower index.
Tensor argmin(const Tensor& x, std::optional<std::int64_t> axis = {}, bool keepdim = false);
/// boolean: some element is true. Empty: false.
Tensor any(const Tensor& x, const Shape& axes = {}, bool keepdim = false);
/// boolean: every element is true. Empty: true.
Tensor all(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// y_i = x_0 + … + x_i along the axis; f32, f64, i64.
Tensor cumsum(const Tensor& x, std::int64_t axis);
/// y_i = x_0 * … * x_i along the axis; the gradient is exact with zeros among the factors.
Tensor cumprod(const Tensor& x, std::int64_t axis);

/// x summed down to a shape from which it could have been broadcast: the adjoint of broadcasting.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace gradzoo
