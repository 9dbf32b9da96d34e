// Scaled dot-product attention, and several of them side by side (Vaswani et al. 2017).
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/attend.h"
#include "nn/linear.h"

namespace gradzoo::nn {

/// softmax(q k^T / sqrt(d)) v: q [..., queries, d], k [..., keys, d], v [..., keys, e]
/// -> [..., queries, e]. `mask` broadcasts to [..., queries, keys]: boolean (true = may attend) or
/// float (added to the scores, -inf = may not attend; it may require a gradient), or undefined: all
/// may attend. combine_masks makes one of two. A query with nothing to attend to gives zeros.
/// `dropout` applies to the weights.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask = {}, double dropout = 0);

/// [batch, time, heads * d] -> [batch, heads, time, d], a view.
Tensor split_heads(const Tensor& x, std::int64_t num_heads);
/// [batch, heads, time, d] -> [batch, time, heads * d].
Tensor merge_heads(const Tensor& x);

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< of the attention weights
  bool bias = true;
};

/// Attention in num_heads subspaces: query [batch, queries, embed_dim], memory [batch, keys,
/// embed_dim] (key and value in one) -> [batch, queries, embed_dim]. Self-attention: the same
/// tensor twice. Names and layout are PyTorch's.
struct MultiheadAttention {
  Tensor in_proj_weight;  ///< [3 * embed_dim, embed_dim]: rows for q, then k, then v
  Tensor in_proj_bias;    ///< [3 * embed_dim], or undefined
  Linear out_proj;        ///< [embed_dim, embed_dim]
  std::int64_t num_heads = 1;
  double dropout = 0;

  MultiheadAttention() = default;
  /// Throws unless num_heads divides embed_dim.
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, Rng& rng,
                     const MultiheadAttentionOptions& options = {});

  /// `mask` broadcasts to [batch, heads, queries, keys], boolean or float as above; undefined: all
  /// may attend.
  Tensor operator()(const Tensor& query, const Tensor& memory, const Tensor& mask = {}) const;

  /// The same output (as context), and what each head looks at: the weights [batch, heads, queries,
  /// keys], before dropout.
  Attended with_weights(const Tensor& query, const Tensor& memory, const Tensor& mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("in_proj_weight", self.in_proj_weight);
    visit("in_proj_bias", self.in_proj_bias);
    visit("out_proj", self.out_proj);
  }
};

}  // namespace gradzoo::nn
