// The layers of the Transformer (Vaswani et al. 2017), with the norm after each part as in the
// paper, or before it (pre-norm, Xiong et al. 2020). Names are PyTorch's.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "nn/attention.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace gradzoo::nn {

/// Sizes shared by both kinds of layer, the paper's by default.
struct TransformerLayerOptions {
  std::int64_t d_model = 512;
  std::int64_t num_heads = 8;
  std::int64_t d_ff = 2048;
  double dropout = 0.1;  ///< after each part, inside the feed-forward part, and of the attention
  bool norm_first = false;
};

/// Self-attention and feed-forward: x [batch, time, d_model] -> the same shape.
struct TransformerEncoderLayer {
  MultiheadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  double dropout = 0;
  bool norm_first = false;

  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(const TransformerLayerOptions& options, Rng& rng);

  /// `mask` broadcasts to [batch, heads, time, time].
  Tensor operator()(const Tensor& x, const Tensor& mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("self_attn", self.self_attn);
    visit("linear1", self.linear1);
    visit("linear2", self.linear2);
    visit("norm1", self.norm1);
    visit("norm2", self.norm2);
  }
};

/// Causal self-attention, attention to the encoder's output, and feed-forward:
/// x [batch, time, d_model], memory [batch, keys, d_model] -> [batch, time, d_model].
struct TransformerDecoderLayer {
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  double dropout = 0;
  bool norm_first = false;

  TransformerDecoderLayer() = default;
  TransformerDecoderLayer(const TransformerLayerOptions& options, Rng& rng);

  /// `mask` broadcasts to [batch, heads, time, time], `memory_mask` to [batch, heads, time, keys].
  Tensor operator()(const Tensor& x, const Tensor& memory, const Tensor& mask = {},
                    const Tensor& memory_mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("self_attn", self.self_attn);
    visit("multihead_attn", self.multihead_attn);
    visit("linear1", self.linear1);
    visit("linear2", self.linear2);
    visit("norm1", self.norm1);
    visit("norm2", self.norm2);
    visit("norm3", self.norm3);
  }
};

}  // namespace gradzoo::nn
