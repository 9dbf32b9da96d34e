// The layers of the Transformer: each part is wrapped in dropout, a residual connection and a norm.
#include "nn/transformer_layer.h"

#include <utility>

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/index.h"
#include "core/scope.h"
#include "nn/mask.h"

namespace gradzoo::nn {
namespace {

MultiheadAttention make_attention(const TransformerLayerOptions& options, Rng& rng,
                                  std::int64_t num_kv_heads = 0) {
  return {options.d_model,
          options.num_heads,
          rng,
          {.dropout = options.dropout, .num_kv_heads = num_kv_heads}};
}

FeedForward make_feed_forward(const TransformerLayerOptions& options, Rng& rng) {
  return {{.d_model = options.d_model,
           .d_ff = options.d_ff,
           .kind = options.kind,
           .dropout = options.dropout},
          rng};
}

// x plus what `part` makes of it, with the norm outside (the paper) or inside (pre-norm).
template <class Part>
Tensor residual(const Tensor& x, const LayerNorm& norm, bool norm_first, double p,
                const Part& part) {
  if (norm_first) return x + dropout(part(norm(x)), p);
  return norm(x + dropout(part(x), p));
}

// The layers, with what self-attention and attention to the memory are left open: a whole sequence
// and a step of decoding differ in nothing else.
template <class LookBack>
Tensor encode(const TransformerEncoderLayer& l, const Tensor& x, const LookBack& look_back) {
  const Scope scope("TransformerEncoderLayer");
  const Tensor mixed = residual(x, l.norm1, l.norm_first, l.dropout, look_back);
  return residual(mixed, l.norm2, l.norm_first, l.dropout, l.feed_forward);
}

template <class LookBack, class LookAcross>
Tensor decode(const TransformerDecoderLayer& l, const Tensor& x, const LookBack& look_back,
              const LookAcross& look_across) {
  const Scope scope("TransformerDecoderLayer");
  const Tensor looked_back = residual(x, l.norm1, l.norm_first, l.dropout, look_back);
  const Tensor looked_across = residual(looked_back, l.norm2, l.norm_first, l.dropout, look_across);
  return residual(looked_across, l.norm3, l.norm_first, l.dropout, l.feed_forward);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& options, Rng& rng)
    : self_attn(make_attention(options, rng, options.num_kv_heads)),
      feed_forward(make_feed_forward(options, rng)),
      norm1(options.d_model),
      norm2(options.d_model),
      dropout(options.dropout),
      norm_first(options.norm_first) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const Tensor& mask) const {
  return encode(*this, x, [&](const Tensor& in) { return self_attn(in, in, in, mask); });
}

Attended TransformerEncoderLayer::with_weights(const Tensor& x, const Tensor& mask) const {
  Tensor weights;
  const Tensor output = encode(*this, x, [&](const Tensor& in) {
    const Attended looked = self_attn.with_weights(in, in, in, mask);
    weights = looked.weights;
    return looked.context;
  });
  return {output, weights};
}

Tensor TransformerEncoderLayer::step(const Tensor& x, KvCache& cache, const Tensor& mask) const {
  return encode(*this, x, [&](const Tensor& in) { return self_attn.step(in, cache, mask); });
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& options, Rng& rng)
    : self_attn(make_attention(options, rng, options.num_kv_heads)),
      multihead_attn(make_attention(options, rng)),
      feed_forward(make_feed_forward(options, rng)),
      norm1(options.d_model),
      norm2(options.d_model),
      norm3(options.d_model),
      dropout(options.dropout),
      norm_first(options.norm_first) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory,
                                           const Tensor& mask, const Tensor& memory_mask) const {
  return decode(
      *this, x, [&](const Tensor& in) { return self_attn(in, in, in, mask); },
      [&](const Tensor& in) { return multihead_attn(in, memory, memory, memory_mask); });
}

DecoderLayerOutput TransformerDecoderLayer::with_weights(const Tensor& x, const Tensor& memory,
                                                         const Tensor& mask,
                                                         const Tensor& memory_mask) const {
  DecoderLayerOutput result;
  result.output = decode(
      *this, x,
      [&](const Tensor& in) {
        const Attended looked = self_attn.with_weights(in, in, in, mask);
        result.self_weights = looked.weights;
        return looked.context;
      },
      [&](const Tensor& in) {
        const Attended looked = multihead_attn.with_weights(in, memory, memory, memory_mask);
        result.memory_weights = looked.weights;
        return looked.context;
      });
  return result;
}

void DecoderLayerCache::select_rows(const Tensor& index) {
  self.select_rows(index);
  memory.select_rows(index);
  const bool per_row = memory_mask.defined() && memory_mask.dim() > 2 && memory_mask.size(0) != 1;
  if (per_row) memory_mask = index_select(memory_mask, 0, index);
}

DecoderLayerCache TransformerDecoderLayer::make_cache(const Tensor& encoded,
                                                      const Tensor& encoded_mask,
                                                      std::int64_t capacity) const {
  KvCache memory = multihead_attn.project_memory(encoded, encoded);
  if (encoded_mask.defined()) {  // found here, not at the first step
    fit_mask("attention to the memory", encoded_mask,
             {memory.batch(), multihead_attn.num_heads, 1, memory.length()}, encoded.dtype());
  }
  return {self_attn.make_cache(memory.batch(), capacity), std::move(memory), encoded_mask};
}

Tensor TransformerDecoderLayer::step(const Tensor& x, DecoderLayerCache& cache,
                                     const Tensor& mask) const {
  return decode(
      *this, x, [&](const Tensor& in) { return self_attn.step(in, cache.self, mask); },
      [&](const Tensor& in) {
        return multihead_attn.attend_memory(in, cache.memory, cache.memory_mask);
      });
}

}  // namespace gradzoo::nn
