// Rows of the layers of the Transformer.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/mask.h"
#include "nn/transformer_layer.h"

namespace gradzoo::examples {
namespace {

// On paper: attention has four matrices and biases, feed-forward two, a norm two vectors.
constexpr std::int64_t kWidth = 4, kHidden = 3;
constexpr std::int64_t kAttention = 4 * kWidth * kWidth + 4 * kWidth;
constexpr std::int64_t kForward = 2 * kWidth * kHidden + kHidden + kWidth;
constexpr std::int64_t kNorm = 2 * kWidth;

nn::TransformerLayerOptions sizes(bool norm_first, double dropout = 0) {
  return {.d_model = kWidth,
          .num_heads = 2,
          .d_ff = kHidden,
          .dropout = dropout,
          .norm_first = norm_first};
}

LayerRow encoder_row(const std::string& option, bool norm_first, const Tensor& mask,
                     double dropout = 0) {
  return {"TransformerEncoderLayer", option, kAttention + kForward + 2 * kNorm, [=](Rng& rng) {
            const auto f = [=](const nn::TransformerEncoderLayer& m, const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return m(in[0], mask);
            };
            return layer_case(nn::TransformerEncoderLayer(sizes(norm_first, dropout), rng), rng,
                              {{"x", input({2, 2, kWidth}, rng)}}, f);
          }};
}

LayerRow decoder_row(const std::string& option, bool norm_first, const Tensor& memory_mask) {
  return {"TransformerDecoderLayer", option, 2 * kAttention + kForward + 3 * kNorm, [=](Rng& rng) {
            const auto f = [=](const nn::TransformerDecoderLayer& m, const Inputs& in) {
              return m(in[0], in[1], nn::causal_mask(2), memory_mask);
            };
            return layer_case(
                nn::TransformerDecoderLayer(sizes(norm_first), rng), rng,
                {{"x", input({2, 2, kWidth}, rng)}, {"memory", input({2, 2, kWidth}, rng)}}, f);
          }};
}

}  // namespace

std::vector<LayerRow> transformer_rows() {
  const Tensor padding = reshape(nn::padding_mask(tensor({2, 1}, DType::i64), 2), {2, 1, 1, 2});
  return {
      encoder_row("post-norm", false, {}),
      encoder_row("pre-norm", true, {}),
      encoder_row("post-norm, padding mask", false, padding),
      encoder_row("post-norm, dropout", false, {}, 0.2),
      decoder_row("post-norm", false, {}),
      decoder_row("pre-norm", true, {}),
      decoder_row("pre-norm, padding mask", true, padding),
  };
}

}  // namespace gradzoo::examples
