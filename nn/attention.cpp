// Attention: scores, softmax, weighted sum; and its heads.
#include "nn/attention.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/init.h"
#include "nn/mask.h"

namespace gradzoo::nn {

namespace {

// softmax(q k^T / sqrt(d)): [..., queries, keys].
Tensor scaled_dot_product_weights(const Tensor& q, const Tensor& k, const Tensor& mask) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  return attention_weights(matmul(q * scale, transpose(k)), mask);
}

struct Heads {
  Tensor q;  // [b, h, queries, d]
  Tensor k;  // [b, h, keys, d]
  Tensor v;  // [b, h, keys, d]
};

// What each head compares and passes on.
Heads project(const MultiheadAttention& layer, const Tensor& query, const Tensor& memory) {
  check(query.dim() == 3 && memory.dim() == 3,
        "MultiheadAttention: query and memory must be [batch, time, width], got {} and {}",
        query.shape(), memory.shape());
  const std::int64_t width = layer.out_proj.weight.size(0);
  // Rows [from, to) of the packed projection applied to x. Self-attention needs all of them for
  // one input: one product instead of three.
  const auto rows = [&](const Tensor& x, std::int64_t from, std::int64_t to) {
    if (from == 0 && to == 3 * width) return linear(x, layer.in_proj_weight, layer.in_proj_bias);
    const Tensor& packed = layer.in_proj_bias;
    const Tensor bias = packed.defined() ? slice(packed, 0, from, to) : Tensor();
    return linear(x, slice(layer.in_proj_weight, 0, from, to), bias);
  };
  const auto heads = [&](const Tensor& x, std::int64_t part) {
    return split_heads(slice(x, 2, part * width, (part + 1) * width), layer.num_heads);
  };
  if (query.impl_ptr() == memory.impl_ptr()) {
    const Tensor qkv = rows(query, 0, 3 * width);
    return {heads(qkv, 0), heads(qkv, 1), heads(qkv, 2)};
  }
  const Tensor kv = rows(memory, width, 3 * width);
  return {heads(rows(query, 0, width), 0), heads(kv, 0), heads(kv, 1)};
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask, double dropout) {
  const Tensor weights = scaled_dot_product_weights(q, k, mask);
  return matmul(gradzoo::dropout(weights, dropout), v);  // [..., q, e]
}

Tensor split_heads(const Tensor& x, std::int64_t num_heads) {
  const Tensor apart = reshape(x, {x.size(0), x.size(1), num_heads, x.size(2) / num_heads});
  return permute(apart, {0, 2, 1, 3});  // [b, h, t, d]
}

Tensor merge_heads(const Tensor& x) {
  const Tensor by_time = permute(x, {0, 2, 1, 3});  // [b, t, h, d]
  return reshape(by_time, {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t heads, Rng& rng,
                                       const MultiheadAttentionOptions& options)
    : num_heads(heads), dropout(options.dropout) {
  check(heads >= 1 && embed_dim >= 1 && embed_dim % heads == 0,
        "MultiheadAttention: num_heads must divide embed_dim, got {} heads and width {}", heads,
        embed_dim);
  in_proj_weight = init::xavier_uniform({3 * embed_dim, embed_dim}, rng);
  if (options.bias) in_proj_bias = init::constant({3 * embed_dim}, 0);
  out_proj = Linear(embed_dim, embed_dim, rng, {.bias = options.bias});
  if (options.bias) out_proj.bias = init::constant({embed_dim}, 0);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& memory,
                                      const Tensor& mask) const {
  const Scope scope("MultiheadAttention");
  const auto [q, k, v] = project(*this, query, memory);
  return out_proj(merge_heads(scaled_dot_product_attention(q, k, v, mask, dropout)));
}

Attended MultiheadAttention::with_weights(const Tensor& query, const Tensor& memory,
                                          const Tensor& mask) const {
  const Scope scope("MultiheadAttention");
  const auto [q, k, v] = project(*this, query, memory);
  const Tensor weights = scaled_dot_product_weights(q, k, mask);
  const Tensor mixed = matmul(gradzoo::dropout(weights, dropout), v);
  return {out_proj(merge_heads(mixed)), weights};
}

}  // namespace gradzoo::nn
