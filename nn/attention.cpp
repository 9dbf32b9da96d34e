// Several heads of attention: project, attend in each, put together.
#include "nn/attention.h"

#include <vector>

#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/init.h"
#include "nn/mask.h"

namespace gradzoo::nn {

namespace {

// The parts of the packed projection.
enum Part { kQuery, kKey, kValue, kParts };

// The first row of a part of the packed weight or bias.
std::int64_t first_row(const MultiheadAttention& layer, int part) {
  const std::int64_t width = layer.out_proj.weight.size(0);
  if (part == kQuery) return 0;
  return width + (part - 1) * (width / layer.num_heads * layer.num_kv_heads);
}

// The heads [b, heads, t, d] of the parts [from, to) of the projection of x, by one product.
std::vector<Tensor> project(const MultiheadAttention& layer, const Tensor& x, int from, int to) {
  const auto rows = [&](const Tensor& packed) {
    if (!packed.defined() || (from == kQuery && to == kParts)) return packed;
    return slice(packed, 0, first_row(layer, from), first_row(layer, to));
  };
  const Tensor weights[] = {layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight};
  const Tensor weight = layer.in_proj_weight.defined() ? rows(layer.in_proj_weight) : weights[from];
  const Tensor y = linear(x, weight, rows(layer.in_proj_bias));  // [b, t, rows]
  std::vector<Tensor> heads;
  for (int part = from; part < to; ++part) {
    const std::int64_t start = first_row(layer, part) - first_row(layer, from);
    const std::int64_t end = first_row(layer, part + 1) - first_row(layer, from);
    heads.push_back(split_heads(to - from == 1 ? y : slice(y, 2, start, end),
                                part == kQuery ? layer.num_heads : layer.num_kv_heads));
  }
  return heads;
}

struct Memory {
  Tensor k, v;  // [b, kv_heads, keys, d]
};

Memory project_memory_of(const MultiheadAttention& layer, const Tensor& key, const Tensor& value) {
  check(key.dim() == 3 && value.dim() == 3 && key.size(0) == value.size(0) &&
            key.size(1) == value.size(1),
        "MultiheadAttention: key and value must be [batch, keys, width], got {} and {}",
        key.shape(), value.shape());
  if (layer.in_proj_weight.defined() && key.impl_ptr() == value.impl_ptr()) {
    const std::vector<Tensor> kv = project(layer, key, kKey, kParts);
    return {kv[0], kv[1]};
  }
  return {project(layer, key, kKey, kValue)[0], project(layer, value, kValue, kParts)[0]};
}

struct Heads {
  Tensor q;  // [b, h, queries, d]
  Tensor k;  // [b, kv_heads, keys, d]
  Tensor v;  // [b, kv_heads, keys, d]
};

// What each head compares and passes on. Inputs that are one tensor are projected by one product.
Heads project_all(const MultiheadAttention& layer, const Tensor& query, const Tensor& key,
                  const Tensor& value) {
  check(query.dim() == 3 && key.dim() == 3 && query.size(0) == key.size(0),
        "MultiheadAttention: query and key must be [batch, time, width] of one batch, got {} and "
        "{}",
        query.shape(), key.shape());
  const bool self = query.impl_ptr() == key.impl_ptr() && query.impl_ptr() == value.impl_ptr();
  if (self && layer.in_proj_weight.defined()) {
    const std::vector<Tensor> qkv = project(layer, query, kQuery, kParts);
    return {qkv[0], qkv[1], qkv[2]};
  }
  const auto [k, v] = project_memory_of(layer, key, value);
  return {project(layer, query, kQuery, kKey)[0], k, v};
}

}  // namespace

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
    : num_heads(heads),
      num_kv_heads(options.num_kv_heads == 0 ? heads : options.num_kv_heads),
      dropout(options.dropout) {
  check(heads >= 1 && embed_dim >= 1 && embed_dim % heads == 0,
        "MultiheadAttention: num_heads must divide embed_dim, got {} heads and width {}", heads,
        embed_dim);
  check(num_kv_heads >= 1 && heads % num_kv_heads == 0,
        "MultiheadAttention: num_kv_heads must divide num_heads, got {} and {}", num_kv_heads,
        heads);
  check(dropout >= 0 && dropout <= 1, "MultiheadAttention: dropout must be in [0, 1], got {}",
        dropout);
  const std::int64_t kdim = options.kdim == 0 ? embed_dim : options.kdim;
  const std::int64_t vdim = options.vdim == 0 ? embed_dim : options.vdim;
  check(kdim >= 1 && vdim >= 1,
        "MultiheadAttention: kdim and vdim must be at least 1, got {} and {}", kdim, vdim);
  const std::int64_t kv_width = embed_dim / heads * num_kv_heads, rows = embed_dim + 2 * kv_width;
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = init::xavier_uniform({rows, embed_dim}, rng);
  } else {
    q_proj_weight = init::xavier_uniform({embed_dim, embed_dim}, rng);
    k_proj_weight = init::xavier_uniform({kv_width, kdim}, rng);
    v_proj_weight = init::xavier_uniform({kv_width, vdim}, rng);
  }
  if (options.bias) in_proj_bias = init::constant({rows}, 0);
  out_proj = Linear(embed_dim, embed_dim, rng, {.bias = options.bias});
  if (options.bias) out_proj.bias = init::constant({embed_dim}, 0);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const Tensor& mask) const {
  return with_weights(query, key, value, mask).context;
}

Attended MultiheadAttention::with_weights(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const Tensor& mask) const {
  const Scope scope("MultiheadAttention");
  const auto [q, k, v] = project_all(*this, query, key, value);
  const std::int64_t first = k.size(2) - q.size(2);  // the last query is at the last key
  const auto [context, weights] = attend_by_place(positions, placed(positions, q, first),
                                                  placed(positions, k, 0), v, mask, dropout);
  return {out_proj(merge_heads(context)), weights};
}

KvCache MultiheadAttention::make_cache(std::int64_t batch, std::int64_t capacity) const {
  const Shape room{batch, num_kv_heads, capacity, out_proj.weight.size(0) / num_heads};
  return {room, room, out_proj.weight.dtype()};
}

Tensor MultiheadAttention::step(const Tensor& x, KvCache& cache, const Tensor& mask) const {
  const Scope scope("MultiheadAttention");
  const auto [q, k, v] = project_all(*this, x, x, x);
  const std::int64_t first = cache.length(), added = x.size(1);
  // A mask that does not fit is found before anything is added.
  Tensor visible;
  if (mask.defined()) {
    visible = fit_mask("attention", mask, {x.size(0), num_heads, added, first + added}, q.dtype());
  }
  if (added > 1) visible = causal_mask(added, first + added) & visible;  // one token sees all
  cache.append(placed(positions, k, first), v);
  const Tensor context = attend_by_place(positions, placed(positions, q, first), cache.keys(),
                                         cache.values(), visible, dropout)
                             .context;
  return out_proj(merge_heads(context));
}

KvCache MultiheadAttention::project_memory(const Tensor& key, const Tensor& value) const {
  const Scope scope("MultiheadAttention");
  const auto [k, v] = project_memory_of(*this, key, value);
  return {k, v};
}

Tensor MultiheadAttention::attend_memory(const Tensor& query, const KvCache& memory,
                                         const Tensor& mask) const {
  const Scope scope("MultiheadAttention");
  check(std::holds_alternative<NoPositions>(positions),
        "MultiheadAttention: positions are for queries and keys of one sequence, not for a memory");
  check(query.dim() == 3 && query.size(0) == memory.batch(),
        "MultiheadAttention: query must be [batch, queries, width] for a memory of batch {}, got "
        "{}",
        memory.batch(), query.shape());
  const Tensor q = project(*this, query, kQuery, kKey)[0];
  return out_proj(merge_heads(
      scaled_dot_product_attention(q, memory.keys(), memory.values(), mask, {.dropout = dropout})));
}

}  // namespace gradzoo::nn
