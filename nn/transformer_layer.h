// The layers of the Transformer (Vaswani et al. 2017), with the norm after each part as in the
// paper, or before it (pre-norm, Xiong et al. 2020). Names are PyTorch's.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/kv_cache.h"
#include "nn/layer_norm.h"

namespace gradzoo::nn {

/// Sizes shared by both kinds of layer, the paper's by default.
struct TransformerLayerOptions {
  std::int64_t d_model = 512;
  std::int64_t num_heads = 8;
  std::int64_t d_ff = 2048;
  double dropout = 0.1;  ///< after each part, inside the feed-forward part, and of the attention
  bool norm_first = false;
  FeedForwardKind kind = FeedForwardKind::relu;
  std::int64_t num_kv_heads = 0;  ///< of the self-attention, see MultiheadAttentionOptions
};

/// Self-attention and feed-forward: x [batch, time, d_model] -> the same shape. With a causal mask,
/// the layer of a decoder-only model.
struct TransformerEncoderLayer {
  MultiheadAttention self_attn;  ///< its positions may be set
  FeedForward feed_forward;
  LayerNorm norm1, norm2;
  double dropout = 0;
  bool norm_first = false;

  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(const TransformerLayerOptions& options, Rng& rng);

  /// `mask`, of the shapes in nn/mask.h, for scores [batch, heads, time, time].
  Tensor operator()(const Tensor& x, const Tensor& mask = {}) const;
  /// The same output (as context), and what each head looks at: [batch, heads, time, time].
  Attended with_weights(const Tensor& x, const Tensor& mask = {}) const;

  KvCache make_cache(std::int64_t batch, std::int64_t capacity) const {
    return self_attn.make_cache(batch, capacity);
  }
  /// What a causal model makes of the next tokens x [batch, n, d_model]: see
  /// MultiheadAttention::step.
  Tensor step(const Tensor& x, KvCache& cache, const Tensor& mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("self_attn", self.self_attn);
    FeedForward::fields(self.feed_forward, visit);  // PyTorch has its weights in the layer
    visit("norm1", self.norm1);
    visit("norm2", self.norm2);
  }
};

/// The output of a decoder layer, and what each head looks at.
struct DecoderLayerOutput {
  Tensor output;          ///< [batch, time, d_model]
  Tensor self_weights;    ///< [batch, heads, time, time]
  Tensor memory_weights;  ///< [batch, heads, time, keys]
};

/// What a decoder layer remembers: its tokens, and the projected memory with its mask.
struct DecoderLayerCache {
  KvCache self, memory;
  Tensor memory_mask;  ///< [batch, 1, keys] or with heads; or undefined

  /// As KvCache::select_rows, for tokens, memory and mask together.
  void select_rows(const Tensor& index);
};

/// Causal self-attention, attention to the encoder's output, and feed-forward:
/// x [batch, time, d_model], memory [batch, keys, d_model] -> [batch, time, d_model].
struct TransformerDecoderLayer {
  MultiheadAttention self_attn, multihead_attn;
  FeedForward feed_forward;
  LayerNorm norm1, norm2, norm3;
  double dropout = 0;
  bool norm_first = false;

  TransformerDecoderLayer() = default;
  TransformerDecoderLayer(const TransformerLayerOptions& options, Rng& rng);

  /// Masks of the shapes in nn/mask.h: `mask` for scores [batch, heads, time, time], `memory_mask`
  /// for [batch, heads, time, keys].
  Tensor operator()(const Tensor& x, const Tensor& memory, const Tensor& mask = {},
                    const Tensor& memory_mask = {}) const;
  /// The same output, with the weights of both attentions.
  DecoderLayerOutput with_weights(const Tensor& x, const Tensor& memory, const Tensor& mask = {},
                                  const Tensor& memory_mask = {}) const;

  /// Room for `capacity` tokens, and the memory projected once. `memory_mask` holds for every step:
  /// [batch, 1, keys] or with heads, or an Error naming both shapes. For use under NoGrad.
  DecoderLayerCache make_cache(const Tensor& memory, const Tensor& memory_mask,
                               std::int64_t capacity) const;
  /// The next tokens x [batch, n, d_model]: see MultiheadAttention::step.
  Tensor step(const Tensor& x, DecoderLayerCache& cache, const Tensor& mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("self_attn", self.self_attn);
    visit("multihead_attn", self.multihead_attn);
    FeedForward::fields(self.feed_forward, visit);  // PyTorch has its weights in the layer
    visit("norm1", self.norm1);
    visit("norm2", self.norm2);
    visit("norm3", self.norm3);
  }
};

}  // namespace gradzoo::nn
