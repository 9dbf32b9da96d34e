// Attention layers beside PyTorch's, with widths of their own and every kind of mask at once:
// outputs and every gradient.
#include <doctest/doctest.h>

#include "nn/attention.h"
#include "nn/mask.h"
#include "nn/transformer_layer.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using nn::operator&;
using test::compare;
using test::Inputs;

namespace {

// PyTorch's key_padding_mask [batch, keys], recorded in our meaning.
Tensor padding(const Tensor& real) { return unsqueeze(real, 1); }

// attn_mask and key_padding_mask together.
const auto both = [](const auto& get) { return get("mask") & padding(get("real")); };

// compare() wants a module; a function has no weights.
struct NoWeights {
  static void fields(auto&, auto&&) {}
};

}  // namespace

TEST_CASE("PyTorch: MultiheadAttention under a mask and padding, self, and three tensors") {
  Rng rng(1);
  compare("attention_masks", nn::MultiheadAttention(8, 2, rng),
          [](const auto& m, const Inputs& in, const auto& get) {
            return m(in[0], in[0], in[0], both(get));
          });
  compare("attention_three", nn::MultiheadAttention(8, 2, rng),
          [](const auto& m, const Inputs& in, const auto&) { return m(in[0], in[1], in[2]); });
}

TEST_CASE("PyTorch: MultiheadAttention with kdim and vdim, under a mask and padding") {
  Rng rng(2);
  const auto run = [](const auto& m, const Inputs& in, const auto& get) {
    return m(in[0], in[1], in[2], both(get));
  };
  compare("attention_kdim_vdim", nn::MultiheadAttention(8, 4, rng, {.kdim = 5, .vdim = 3}), run);
  compare("attention_vdim", nn::MultiheadAttention(8, 4, rng, {.bias = false, .vdim = 3}), run);
}

TEST_CASE("PyTorch: attention whose heads share keys and values, the last query at the last key") {
  compare("attention_shared_heads", NoWeights{}, [](const auto&, const Inputs& in, const auto&) {
    return nn::scaled_dot_product_attention(in[0], in[1], in[2], nn::causal_mask(3, 5));
  });
}

TEST_CASE("PyTorch: Transformer layers with gelu, under a mask and padding on both sides") {
  Rng rng(3);
  for (const bool norm_first : {false, true}) {
    const nn::TransformerLayerOptions options{.d_model = 8,
                                              .num_heads = 2,
                                              .d_ff = 6,
                                              .dropout = 0,
                                              .norm_first = norm_first,
                                              .kind = nn::FeedForwardKind::gelu};
    const std::string kind = norm_first ? "pre" : "post";
    compare("encoder_layer_masks_" + kind, nn::TransformerEncoderLayer(options, rng),
            [](const auto& m, const Inputs& in, const auto& get) { return m(in[0], both(get)); });
    compare("decoder_layer_masks_" + kind, nn::TransformerDecoderLayer(options, rng),
            [](const auto& m, const Inputs& in, const auto& get) {
              return m(in[0], in[1], both(get), padding(get("memory_real")));
            });
  }
}
