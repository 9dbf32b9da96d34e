// The fully connected layer.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn {

struct LinearOptions {
  bool bias = true;
};

/// x W^T + b: [..., in] -> [..., out].
struct Linear {
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out], or undefined

  Linear() = default;
  /// Weight and bias uniform in ±1/sqrt(in), as in PyTorch. Throws unless in and out are at
  /// least 1.
  Linear(std::int64_t in, std::int64_t out, Rng& rng, const LinearOptions& options = {});

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

}  // namespace gradzoo::nn
