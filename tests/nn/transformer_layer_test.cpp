// Encoder and decoder layers: the order of norm and residual, parameters, dropout.
#include "nn/transformer_layer.h"

#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

const TransformerLayerOptions kSmall{.d_model = 4, .num_heads = 2, .d_ff = 6, .dropout = 0};

TransformerLayerOptions pre_norm() {
  TransformerLayerOptions options = kSmall;
  options.norm_first = true;
  return options;
}

}  // namespace

TEST_CASE("the encoder layer is the paper's formula, or the pre-norm one") {
  Rng rng(1);
  const Tensor x = test::input({2, 3, 4}, 2).detach();
  const auto feed_forward = [](const TransformerEncoderLayer& l, const Tensor& in) {
    return l.feed_forward(in);
  };
  const auto post = nn::to(TransformerEncoderLayer(kSmall, rng), DType::f64);
  const Tensor a = post.norm1(x + post.self_attn(x, x, x));
  CHECK(test::max_difference(post(x), post.norm2(a + feed_forward(post, a))) < 1e-12);
  const auto pre = nn::to(TransformerEncoderLayer(pre_norm(), rng), DType::f64);
  const Tensor n = pre.norm1(x);
  const Tensor b = x + pre.self_attn(n, n, n);
  CHECK(test::max_difference(pre(x), b + feed_forward(pre, pre.norm2(b))) < 1e-12);
}

TEST_CASE("the decoder layer looks back, across, and feeds forward") {
  Rng rng(3);
  const auto layer = nn::to(TransformerDecoderLayer(kSmall, rng), DType::f64);
  const Tensor x = test::input({2, 3, 4}, 4).detach(), memory = test::input({2, 5, 4}, 5).detach();
  const Tensor causal = causal_mask(3);
  const Tensor a = layer.norm1(x + layer.self_attn(x, x, x, causal));
  const Tensor b = layer.norm2(a + layer.multihead_attn(a, memory, memory));
  const Tensor want = layer.norm3(b + layer.feed_forward(b));
  CHECK(test::max_difference(layer(x, memory, causal), want) < 1e-12);
}

TEST_CASE("layers with weights: the same output, and the weights of their attentions") {
  Rng rng(3);
  const auto encoder = nn::to(TransformerEncoderLayer(kSmall, rng), DType::f64);
  const auto decoder = nn::to(TransformerDecoderLayer(kSmall, rng), DType::f64);
  const Tensor x = test::input({2, 3, 4}, 4).detach(), memory = test::input({2, 5, 4}, 5).detach();
  const Tensor causal = causal_mask(3);
  const Attended encoded = encoder.with_weights(x, causal);
  CHECK(test::max_difference(encoded.context, encoder(x, causal)) == 0);
  CHECK(test::max_difference(encoded.weights,
                             encoder.self_attn.with_weights(x, x, x, causal).weights) == 0);
  const DecoderLayerOutput decoded = decoder.with_weights(x, memory, causal);
  CHECK(test::max_difference(decoded.output, decoder(x, memory, causal)) == 0);
  CHECK(test::max_difference(decoded.self_weights,
                             decoder.self_attn.with_weights(x, x, x, causal).weights) == 0);
  const Tensor a = decoder.norm1(x + decoder.self_attn(x, x, x, causal));
  CHECK(test::max_difference(decoded.memory_weights,
                             decoder.multihead_attn.with_weights(a, memory, memory).weights) == 0);
}

TEST_CASE("parameter counts are the paper's arithmetic") {
  Rng rng(6);
  const std::int64_t d = 4, f = 6;
  const std::int64_t attention = 4 * d * d + 4 * d, forward = 2 * d * f + f + d, norm = 2 * d;
  CHECK(parameter_count(TransformerEncoderLayer(kSmall, rng)) == attention + forward + 2 * norm);
  CHECK(parameter_count(TransformerDecoderLayer(kSmall, rng)) ==
        2 * attention + forward + 3 * norm);
}

TEST_CASE("every part of a layer drops; the self-attention alone shares heads") {
  Rng rng(12);
  TransformerLayerOptions options = kSmall;
  options.dropout = 0.3;
  options.num_kv_heads = 1;
  const TransformerEncoderLayer encoder(options, rng);
  const TransformerDecoderLayer decoder(options, rng);
  for (const double p :
       {encoder.dropout, encoder.self_attn.dropout, encoder.feed_forward.dropout, decoder.dropout,
        decoder.self_attn.dropout, decoder.multihead_attn.dropout, decoder.feed_forward.dropout}) {
    CHECK(p == 0.3);
  }
  CHECK(encoder.self_attn.num_kv_heads == 1);
  CHECK(decoder.self_attn.num_kv_heads == 1);
  CHECK(decoder.multihead_attn.num_kv_heads == options.num_heads);
}

TEST_CASE("dropout changes a layer inside a TrainingScope only") {
  Rng rng(11);
  TransformerLayerOptions options = kSmall;
  options.dropout = 0.5;
  const TransformerEncoderLayer layer(options, rng);
  const Tensor x = randn({2, 3, 4}, rng);
  const auto plain = layer(x).to_vector<float>();
  CHECK(plain == layer(x).to_vector<float>());
  const TrainingScope training(rng);
  CHECK(plain != layer(x).to_vector<float>());
}

TEST_CASE("a gated feed-forward part and shared heads: by the same formula, with their names") {
  Rng rng(12);
  TransformerLayerOptions options = kSmall;
  options.kind = FeedForwardKind::swiglu;
  options.num_kv_heads = 1;
  const auto layer = nn::to(TransformerEncoderLayer(options, rng), DType::f64);
  const Tensor x = test::input({2, 3, 4}, 13);
  const Tensor a = layer.norm1(x + layer.self_attn(x, x, x));
  CHECK(test::max_difference(layer(x), layer.norm2(a + layer.feed_forward(a))) < 1e-12);
  CHECK(layer.self_attn.in_proj_weight.shape() == Shape{8, 4});
  std::string names;
  for (const auto& [name, tensor] : named_parameters(layer)) names += name + " ";
  CHECK(names ==
        "self_attn.in_proj_weight self_attn.in_proj_bias self_attn.out_proj.weight "
        "self_attn.out_proj.bias linear1.weight linear1.bias linear3.weight linear3.bias "
        "linear2.weight linear2.bias norm1.weight norm1.bias norm2.weight norm2.bias ");
  const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
  const auto first = nn::gradcheck(layer, f, {x});
  CHECK_MESSAGE(first.ok, first.report);
}
