// Layers beside PyTorch's: its weights loaded by its names, outputs and every gradient compared.
#include <doctest/doctest.h>

#include "nn/attention.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/transformer_layer.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using test::compare;
using test::Inputs;

TEST_CASE("PyTorch: Linear, Embedding, LayerNorm") {
  Rng rng(1);
  const auto plain = [](const auto& m, const Inputs& in, const auto&) { return m(in[0]); };
  compare("linear", nn::Linear(3, 4, rng), plain);
  compare("embedding", nn::Embedding(7, 3, rng, {.padding_idx = 2}), plain);
  compare("layer_norm", nn::LayerNorm(5), plain);
}

TEST_CASE("PyTorch: MultiheadAttention, causal, and across with padding and without bias") {
  Rng rng(2);
  compare("attention_self", nn::MultiheadAttention(8, 2, rng),
          [](const auto& m, const Inputs& in, const auto& get) {
            return m(in[0], in[0], in[0], get("mask"));
          });
  compare("attention_cross", nn::MultiheadAttention(8, 4, rng, {.bias = false}),
          [](const auto& m, const Inputs& in, const auto& get) {
            return m(in[0], in[1], in[1], get("mask"));
          });
}

TEST_CASE("PyTorch: Transformer layers, post-norm and pre-norm, with masks") {
  Rng rng(3);
  for (const bool norm_first : {false, true}) {
    const nn::TransformerLayerOptions options{
        .d_model = 8, .num_heads = 2, .d_ff = 6, .dropout = 0, .norm_first = norm_first};
    const std::string kind = norm_first ? "pre" : "post";
    compare("encoder_layer_" + kind, nn::TransformerEncoderLayer(options, rng),
            [](const auto& m, const Inputs& in, const auto& get) { return m(in[0], get("mask")); });
    compare("decoder_layer_" + kind, nn::TransformerDecoderLayer(options, rng),
            [](const auto& m, const Inputs& in, const auto& get) {
              return m(in[0], in[1], get("mask"), get("memory_mask"));
            });
  }
}
