// Several heads of attention side by side (Vaswani et al. 2017).
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/attend.h"
#include "nn/attention_positions.h"
#include "nn/dot_product.h"
#include "nn/kv_cache.h"
#include "nn/linear.h"

namespace gradzoo::nn {

/// [batch, time, heads * d] -> [batch, heads, time, d], a view.
Tensor split_heads(const Tensor& x, std::int64_t num_heads);
/// [batch, heads, time, d] -> [batch, time, heads * d].
Tensor merge_heads(const Tensor& x);

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< of the attention weights
  bool bias = true;
  std::int64_t kdim = 0;          ///< width of the keys; 0: embed_dim
  std::int64_t vdim = 0;          ///< width of the values; 0: embed_dim
  std::int64_t num_kv_heads = 0;  ///< heads of keys and values, shared by the others; 0: num_heads
};

/// Attention in num_heads subspaces of width d = embed_dim / num_heads: query [batch, queries,
/// embed_dim], key [batch, keys, kdim], value [batch, keys, vdim] -> [batch, queries, embed_dim].
/// Self-attention: the same tensor three times, which costs one product instead of three. Names and
/// layout are PyTorch's; its masks have the opposite meaning.
struct MultiheadAttention {
  Tensor in_proj_weight;  ///< [embed_dim + 2 * num_kv_heads * d, embed_dim]: rows for q, k, v; or
                          ///< undefined when kdim or vdim is another width, and instead:
  Tensor q_proj_weight;   ///< [embed_dim, embed_dim]
  Tensor k_proj_weight;   ///< [num_kv_heads * d, kdim]
  Tensor v_proj_weight;   ///< [num_kv_heads * d, vdim]
  Tensor in_proj_bias;    ///< [embed_dim + 2 * num_kv_heads * d], or undefined
  Linear out_proj;        ///< [embed_dim, embed_dim]
  /// Where tokens stand, for queries and keys of one sequence. A scheme with weights is one layer's
  /// own: give each layer a new one.
  ///
  ///     layer.positions = RotaryPositions(max_length, d);
  AttentionPositions positions;
  std::int64_t num_heads = 1, num_kv_heads = 1;
  double dropout = 0;

  MultiheadAttention() = default;
  /// Throws unless num_heads divides embed_dim, num_kv_heads divides num_heads and dropout is in
  /// [0, 1].
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, Rng& rng,
                     const MultiheadAttentionOptions& options = {});

  /// `mask`: boolean (true = may attend) or float, of the shapes in nn/mask.h; undefined: all may
  /// attend.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const Tensor& mask = {}) const;

  /// The same output (as context), and what each head looks at: the weights [batch, heads, queries,
  /// keys], before dropout.
  Attended with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                        const Tensor& mask = {}) const;

  /// Room for step() to remember `capacity` tokens of each row.
  KvCache make_cache(std::int64_t batch, std::int64_t capacity) const;

  /// Causal self-attention of the next n >= 1 tokens x [batch, n, embed_dim]: they are added to the
  /// cache, and each sees what is there up to itself. The last of them is the last key, so n tokens
  /// at once give what n steps of one give. `mask` may hide more, [n, keys], [batch, n, keys] or
  /// with heads, keys being all that the cache then holds: padding, a window. For use under NoGrad.
  Tensor step(const Tensor& x, KvCache& cache, const Tensor& mask = {}) const;

  /// Keys and values of a memory (as in operator()), projected once, for attend_memory() at every
  /// step. For use under NoGrad.
  KvCache project_memory(const Tensor& key, const Tensor& value) const;
  /// What operator() gives for that memory. Throws when the layer has positions: they are for one
  /// sequence.
  Tensor attend_memory(const Tensor& query, const KvCache& memory, const Tensor& mask = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("in_proj_weight", self.in_proj_weight);
    visit("q_proj_weight", self.q_proj_weight);
    visit("k_proj_weight", self.k_proj_weight);
    visit("v_proj_weight", self.v_proj_weight);
    visit("in_proj_bias", self.in_proj_bias);
    visit("out_proj", self.out_proj);
    visit("positions", self.positions);
  }
};

}  // namespace gradzoo::nn
