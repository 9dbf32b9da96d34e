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

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask, double dropout) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor scores = matmul(q * scale, transpose(k));                         // [..., q, k]
  return matmul(gradzoo::dropout(attention_weights(scores, mask), dropout), v);  // [..., q, e]
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
  check(query.dim() == 3 && memory.dim() == 3,
        "MultiheadAttention: query and memory must be [batch, time, width], got {} and {}",
        query.shape(), memory.shape());
  const std::int64_t width = out_proj.weight.size(0);
  // Rows [from, to) of the packed projection applied to x. Self-attention needs all of them for
  // one input: one product instead of three.
  const auto project = [&](const Tensor& x, std::int64_t from, std::int64_t to) {
    if (from == 0 && to == 3 * width) return linear(x, in_proj_weight, in_proj_bias);
    const Tensor bias = in_proj_bias.defined() ? slice(in_proj_bias, 0, from, to) : Tensor();
    return linear(x, slice(in_proj_weight, 0, from, to), bias);
  };
  const auto heads = [&](const Tensor& x, std::int64_t part) {
    return split_heads(slice(x, 2, part * width, (part + 1) * width), num_heads);
  };
  const bool self = query.impl_ptr() == memory.impl_ptr();
  const Tensor qkv = self ? project(query, 0, 3 * width) : Tensor();
  const Tensor kv = self ? Tensor() : project(memory, width, 3 * width);
  const Tensor q = self ? heads(qkv, 0) : split_heads(project(query, 0, width), num_heads);
  const Tensor k = self ? heads(qkv, 1) : heads(kv, 0);
  const Tensor v = self ? heads(qkv, 2) : heads(kv, 1);
  return out_proj(merge_heads(scaled_dot_product_attention(q, k, v, mask, dropout)));
}

}  // namespace gradzoo::nn
