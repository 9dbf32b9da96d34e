// Normalisation by the root mean square, with a learned scale.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// x / sqrt(mean(x^2) + eps) * weight over the last axis: [..., dim] -> [..., dim] (Zhang and
/// Sennrich 2019). Unlike LayerNorm it neither subtracts the mean nor adds a bias.
struct RmsNorm {
  Tensor weight;  ///< [dim], starts at 1
  double eps = 1e-6;

  RmsNorm() = default;
  /// Throws unless dim is at least 1.
  explicit RmsNorm(std::int64_t dim);

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
};

}  // namespace gradzoo::nn
