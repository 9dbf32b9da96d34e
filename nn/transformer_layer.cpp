// The layers of the Transformer: each part is wrapped in dropout, a residual connection and a norm.
#include "nn/transformer_layer.h"

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/unary.h"
#include "core/scope.h"

namespace gradzoo::nn {
namespace {

MultiheadAttention make_attention(const TransformerLayerOptions& options, Rng& rng) {
  return {options.d_model, options.num_heads, rng, {.dropout = options.dropout}};
}

// x plus what `part` makes of it, with the norm outside (the paper) or inside (pre-norm).
template <class Part>
Tensor residual(const Tensor& x, const LayerNorm& norm, bool norm_first, double p, Part part) {
  if (norm_first) return x + dropout(part(norm(x)), p);
  return norm(x + dropout(part(x), p));
}

Tensor feed_forward(const Tensor& x, const Linear& linear1, const Linear& linear2, double p) {
  const Scope scope("FeedForward");
  return linear2(dropout(relu(linear1(x)), p));
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& options, Rng& rng)
    : self_attn(make_attention(options, rng)),
      linear1(options.d_model, options.d_ff, rng),
      linear2(options.d_ff, options.d_model, rng),
      norm1(options.d_model),
      norm2(options.d_model),
      dropout(options.dropout),
      norm_first(options.norm_first) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const Tensor& mask) const {
  const Scope scope("TransformerEncoderLayer");
  const Tensor attended = residual(x, norm1, norm_first, dropout,
                                   [&](const Tensor& in) { return self_attn(in, in, mask); });
  return residual(attended, norm2, norm_first, dropout,
                  [&](const Tensor& in) { return feed_forward(in, linear1, linear2, dropout); });
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& options, Rng& rng)
    : self_attn(make_attention(options, rng)),
      multihead_attn(make_attention(options, rng)),
      linear1(options.d_model, options.d_ff, rng),
      linear2(options.d_ff, options.d_model, rng),
      norm1(options.d_model),
      norm2(options.d_model),
      norm3(options.d_model),
      dropout(options.dropout),
      norm_first(options.norm_first) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory,
                                           const Tensor& mask, const Tensor& memory_mask) const {
  const Scope scope("TransformerDecoderLayer");
  const Tensor looked_back = residual(x, norm1, norm_first, dropout,
                                      [&](const Tensor& in) { return self_attn(in, in, mask); });
  const Tensor looked_across =
      residual(looked_back, norm2, norm_first, dropout,
               [&](const Tensor& in) { return multihead_attn(in, memory, memory_mask); });
  return residual(looked_across, norm3, norm_first, dropout,
                  [&](const Tensor& in) { return feed_forward(in, linear1, linear2, dropout); });
}

}  // namespace gradzoo::nn
