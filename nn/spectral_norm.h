// Spectral normalisation of a weight (Miyato et al. 2018), and the convolution that has it.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/conv.h"

namespace gradzoo::nn {

struct SpectralNormOptions {
  /// The axis of the outputs: 0, but 1 for a transposed convolution.
  std::int64_t dim = 0;
  std::int64_t power_iterations = 1;  ///< for each call in training
  double eps = 1e-12;                 ///< the smallest length a vector is divided by
};

/// A weight divided by its largest singular value, so that the map has Lipschitz constant 1:
/// W / sigma with sigma = u^T W v, where W is the weight as a matrix [outputs, all else]. The
/// singular vectors u and v are buffers. Inside a TrainingScope each call moves them by
/// u = W v / |W v|, v = W^T u / |W^T u|; the gradient takes them as constants. Use it in place of
/// a weight: linear(x, spectral(), bias). A weight of zeros gives NaN, as in PyTorch.
struct SpectralNorm {
  Tensor original;  ///< the parameter
  Tensor u;         ///< [outputs], a buffer
  Tensor v;         ///< [all else], a buffer
  SpectralNormOptions options;

  SpectralNorm() = default;
  /// Takes over `weight`, and starts u and v at random with 15 iterations. Throws unless it has
  /// two or more axes, none of them empty, and power_iterations is at least 1.
  SpectralNorm(const Tensor& weight, Rng& rng, const SpectralNormOptions& options = {});

  /// The normalised weight, shaped like the original.
  Tensor operator()() const;

  /// A field of this type named "parametrizations.weight" has the names of PyTorch's
  /// parametrizations.spectral_norm.
  static void fields(auto& self, auto&& visit) {
    visit("original", self.original);
    visit("0._u", self.u);
    visit("0._v", self.v);
  }
};

/// A Conv2d whose weight is normalised; names are those of PyTorch's
/// parametrizations.spectral_norm(Conv2d).
struct SpectralConv2d {
  SpectralNorm weight;
  Tensor bias;  ///< [out], or undefined
  Conv2dOptions options;

  SpectralConv2d() = default;
  /// Starts like Conv2d.
  SpectralConv2d(std::int64_t in, std::int64_t out, const HeightWidth& kernel, Rng& rng,
                 const Conv2dLayerOptions& options = {});

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("bias", self.bias);
    visit("parametrizations.weight", self.weight);
  }
};

}  // namespace gradzoo::nn
