// Layer normalisation with learned scale and shift.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// Normalises the last axis: [..., dim] -> [..., dim] (Ba et al. 2016).
struct LayerNorm {
  Tensor weight;  ///< [dim], starts at 1
  Tensor bias;    ///< [dim], starts at 0
  double eps = 1e-5;

  LayerNorm() = default;
  explicit LayerNorm(std::int64_t dim);

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

}  // namespace gradzoo::nn
