// Rows of the layers of the Transformer.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/mask.h"
#include "nn/transformer_layer.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kWidth = 4, kHidden = 3, kHeads = 2;

nn::TransformerLayerOptions sizes() {
  return {.d_model = kWidth, .num_heads = kHeads, .d_ff = kHidden, .dropout = 0};
}

// On paper: attention has four matrices and biases, two of them for `kv` heads of keys and values.
std::int64_t attention_parameters(std::int64_t kv) {
  return 2 * kWidth * kWidth + 2 * kWidth + 2 * (kv * kWidth / kHeads) * (kWidth + 1);
}

// Of an encoder layer and, with attention to a memory and a third norm, of a decoder layer.
std::int64_t layer_parameters(const nn::TransformerLayerOptions& o, bool decoder) {
  const std::int64_t up = nn::is_gated(o.kind) ? 2 : 1;
  const std::int64_t forward = (up + 1) * kWidth * kHidden + up * kHidden + kWidth;
  return attention_parameters(o.num_kv_heads > 0 ? o.num_kv_heads : kHeads) + forward +
         (decoder ? attention_parameters(kHeads) : 0) + (decoder ? 3 : 2) * 2 * kWidth;
}

LayerRow encoder_row(const std::string& option, const nn::TransformerLayerOptions& o,
                     const Tensor& mask = {}, const nn::AttentionPositions& positions = {}) {
  return {"TransformerEncoderLayer", option, layer_parameters(o, false), [=](Rng& rng) {
            const auto f = [=](const nn::TransformerEncoderLayer& m, const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return m(in[0], mask);
            };
            nn::TransformerEncoderLayer made(o, rng);
            made.self_attn.positions = positions;
            return layer_case(made, rng, {{"x", input({2, 2, kWidth}, rng)}}, f);
          }};
}

LayerRow decoder_row(const std::string& option, const nn::TransformerLayerOptions& o,
                     const Tensor& memory_mask = {}) {
  return {"TransformerDecoderLayer", option, layer_parameters(o, true), [=](Rng& rng) {
            const auto f = [=](const nn::TransformerDecoderLayer& m, const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return m(in[0], in[1], nn::causal_mask(2), memory_mask);
            };
            return layer_case(
                nn::TransformerDecoderLayer(o, rng), rng,
                {{"x", input({2, 2, kWidth}, rng)}, {"memory", input({2, 2, kWidth}, rng)}}, f);
          }};
}

}  // namespace

std::vector<LayerRow> transformer_rows() {
  const Tensor padding = nn::padding_mask(tensor({2, 1}, DType::i64), 2);
  const nn::TransformerLayerOptions post = sizes();
  nn::TransformerLayerOptions pre = post, dropout = post, modern = post;
  pre.norm_first = true;
  dropout.dropout = 0.2;
  modern.norm_first = true;
  modern.kind = nn::FeedForwardKind::swiglu;
  modern.num_kv_heads = 1;
  return {
      encoder_row("post-norm", post),
      encoder_row("pre-norm", pre),
      encoder_row("post-norm, padding mask", post, padding),
      encoder_row("post-norm, dropout", dropout),
      encoder_row("swiglu, shared keys", modern, nn::causal_mask(2)),
      encoder_row("pre-norm, rotary", pre, {}, nn::RotaryPositions(2, kWidth / kHeads)),
      decoder_row("post-norm", post),
      decoder_row("pre-norm", pre),
      decoder_row("pre-norm, padding mask", pre, padding),
      decoder_row("post-norm, dropout", dropout),
      decoder_row("swiglu, shared keys", modern),
  };
}

}  // namespace gradzoo::examples
