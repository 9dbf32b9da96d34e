// Spectral normalisation of a weight, and the convolution that has it.
#include "nn/spectral_norm.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/module.h"

namespace gradzoo::nn {
namespace {

// The weight as [outputs, all else].
Tensor as_matrix(const Tensor& weight, std::int64_t dim) {
  Shape axes{dim};
  for (int axis = 0; axis < weight.dim(); ++axis) {
    if (axis != dim) axes.push_back(axis);
  }
  return reshape(permute(weight, axes), {weight.size(dim), -1});
}

Tensor unit(const Tensor& vector, double eps) {
  return vector / clamp(norm(vector), eps, INFINITY);
}

// Power iteration: u and v turn towards the singular vectors of the largest singular value.
void iterate(const Tensor& matrix, const Tensor& u, const Tensor& v, std::int64_t times,
             double eps) {
  for (std::int64_t i = 0; i < times; ++i) {
    assign(u, unit(matmul(matrix, v), eps));
    assign(v, unit(matmul(u, matrix), eps));
  }
}

}  // namespace

SpectralNorm::SpectralNorm(const Tensor& weight, Rng& rng, const SpectralNormOptions& options)
    : options(options) {
  check(weight.dim() >= 2 && weight.numel() > 0,
        "SpectralNorm: the weight must have two or more axes, none empty, got {}", weight.shape());
  check(options.power_iterations >= 1, "SpectralNorm: power_iterations must be at least 1, got {}",
        options.power_iterations);
  this->options.dim = normalize_axis("SpectralNorm", options.dim, weight.dim());
  original = parameter(weight);
  const Tensor matrix = as_matrix(original.detach(), this->options.dim);
  u = unit(randn({matrix.size(0)}, rng, weight.dtype()), options.eps);
  v = unit(randn({matrix.size(1)}, rng, weight.dtype()), options.eps);
  iterate(matrix, u, v, 15, options.eps);
}

Tensor SpectralNorm::operator()() const {
  const Scope scope("SpectralNorm");
  const Tensor matrix = as_matrix(original, options.dim);
  if (modes().training != nullptr) {
    iterate(matrix.detach(), u, v, options.power_iterations, options.eps);
  }
  // Copies: later iterations must not change what backward needs.
  const Tensor left = clone(u), right = clone(v);
  return original / sum(left * matmul(matrix, right));
}

SpectralConv2d::SpectralConv2d(std::int64_t in, std::int64_t out, const HeightWidth& kernel,
                               Rng& rng, const Conv2dLayerOptions& layer_options) {
  const Conv2d plain(in, out, kernel, rng, layer_options);
  weight = SpectralNorm(plain.weight, rng);
  bias = plain.bias;
  options = plain.options;
}

Tensor SpectralConv2d::operator()(const Tensor& x) const {
  return conv2d(x, weight(), bias, options);
}

}  // namespace gradzoo::nn
