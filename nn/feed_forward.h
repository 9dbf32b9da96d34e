// The position-wise feed-forward part of a Transformer, plain and gated.
#pragma once

#include <cstdint>
#include <optional>

#include "core/random.h"
#include "nn/linear.h"

namespace gradzoo::nn {

/// f in W2 f(W x), or in the gated W2 (f(W x) * V x) (Shazeer 2020).
enum class FeedForwardKind {
  relu,       ///< relu(W x) (Vaswani et al. 2017)
  gelu,       ///< gelu(W x), the exact form
  gelu_tanh,  ///< gelu(W x), its approximation by tanh: GPT's form
  glu,        ///< sigmoid(W x) * V x (Dauphin et al. 2017)
  bilinear,   ///< W x * V x
  reglu,      ///< relu(W x) * V x
  geglu,      ///< gelu(W x) * V x
  swiglu,     ///< silu(W x) * V x
};

/// True for the kinds with a second projection V.
bool is_gated(FeedForwardKind kind);

/// Sizes, by default those of Vaswani et al. A gated kind has three matrices instead of two: two
/// thirds of d_ff give it as many parameters.
struct FeedForwardOptions {
  std::int64_t d_model = 512;
  std::int64_t d_ff = 2048;
  FeedForwardKind kind = FeedForwardKind::relu;
  double dropout = 0;  ///< of the hidden values
  bool bias = true;
};

/// Two layers with a nonlinearity between: [..., d_model] -> [..., d_model].
struct FeedForward {
  Linear linear1;                 ///< W: d_model to d_ff
  std::optional<Linear> linear3;  ///< V: d_model to d_ff, in the gated kinds
  Linear linear2;                 ///< W2: d_ff to d_model
  FeedForwardKind kind = FeedForwardKind::relu;
  double dropout = 0;

  FeedForward() = default;
  /// Throws unless the sizes are at least 1 and 0 <= dropout <= 1.
  FeedForward(const FeedForwardOptions& options, Rng& rng);

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("linear1", self.linear1);
    visit("linear3", self.linear3);
    visit("linear2", self.linear2);
  }
};

}  // namespace gradzoo::nn
