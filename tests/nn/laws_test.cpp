// Laws that hold for many layers, as tables: causality, padding, rows of a batch, the order of
// tokens, windows, dropout. What only one layer has is in that layer's test.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/scope.h"
#include "nn/attention.h"
#include "nn/attentive_rnn.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/feed_forward.h"
#include "nn/image_attention.h"
#include "nn/layer_norm.h"
#include "nn/learned_positions.h"
#include "nn/mask.h"
#include "nn/pool.h"
#include "nn/position.h"
#include "nn/rms_norm.h"
#include "nn/rnn.h"
#include "nn/scores.h"
#include "nn/self_attention.h"
#include "nn/transformer_layer.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

constexpr std::int64_t kWidth = 4, kTime = 9;  // more than a vector register of f64

Tensor random(const Shape& shape, std::uint64_t seed) { return test::input(shape, seed).detach(); }

// The layer in f64, its parameters away from the values they start with.
template <class Module>
Module moved(const Module& made) {
  const Module module = nn::to(made, DType::f64);
  Rng rng(17);
  for (const Tensor& weight : nn::parameters(module)) {
    assign(weight, weight.detach() + 0.3 * randn(weight.shape(), rng, DType::f64));
  }
  return module;
}

// Tokens x [batch, time, kWidth] attend to each other under a mask of `time` queries and keys.
struct AttentionLayer {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& mask)> f;
  bool knows_order = false;  // it has positions
};

AttentionLayer multihead(const std::string& name, const AttentionPositions& positions,
                         const MultiheadAttentionOptions& options = {}) {
  Rng rng(2);
  MultiheadAttention made(kWidth, 2, rng, options);
  made.positions = positions;
  const auto layer = moved(made);
  return {"MultiheadAttention " + name,
          [=](const Tensor& x, const Tensor& mask) { return layer(x, x, x, mask); },
          positions.index() != 0};
}

void add_transformer_layers(std::vector<AttentionLayer>& layers) {
  Rng rng(3);
  const Tensor memory = random({1, 3, kWidth}, 4);
  for (const bool norm_first : {false, true}) {
    const TransformerLayerOptions options{
        .d_model = kWidth, .num_heads = 2, .d_ff = 6, .dropout = 0, .norm_first = norm_first};
    const std::string norm = norm_first ? ", pre-norm" : ", post-norm";
    const auto encoder = moved(TransformerEncoderLayer(options, rng));
    layers.push_back({"TransformerEncoderLayer" + norm,
                      [=](const Tensor& x, const Tensor& mask) { return encoder(x, mask); }});
    const auto decoder = moved(TransformerDecoderLayer(options, rng));
    layers.push_back({"TransformerDecoderLayer" + norm, [=](const Tensor& x, const Tensor& mask) {
                        const Tensor all = zeros({x.size(0), 1, 1}, DType::f64) + memory;
                        return decoder(x, all, mask);
                      }});
  }
}

std::vector<AttentionLayer> attention_layers() {
  Rng rng(1);
  const auto plain = moved(SelfAttention(kWidth, 3, rng));
  std::vector<AttentionLayer> layers{
      {"SelfAttention",
       [=](const Tensor& x, const Tensor& mask) { return plain(x, mask).context; }},
      multihead("", NoPositions{}),
      multihead("without bias", NoPositions{}, {.bias = false}),
      multihead("with shared key heads", NoPositions{}, {.num_kv_heads = 1}),
      multihead("rotary", RotaryPositions(12, kWidth / 2)),
      multihead("alibi", AlibiPositions{}),
      multihead("relative", RelativePositions(2, kWidth / 2, rng)),
  };
  add_transformer_layers(layers);
  const std::vector<AttentionScore> scores{DotScore(), ScaledDotScore(),
                                           moved(GeneralScore(kWidth, kWidth, rng)),
                                           moved(ReducedRankScore(kWidth, kWidth, 2, rng)),
                                           moved(AdditiveScore(kWidth, kWidth, 3, rng))};
  for (const AttentionScore& score : scores) {
    for (const Normalizer normalizer : {Normalizer::softmax, Normalizer::relu}) {
      layers.push_back({fmt::format("attend, score {}, normalizer {}", score.index(),
                                    static_cast<int>(normalizer)),
                        [=](const Tensor& x, const Tensor& mask) {
                          return attend(attention_scores(score, x, x), x, mask, normalizer).context;
                        }});
    }
  }
  return layers;
}

// Sequences x [batch, time, kWidth] of these lengths (undefined: all of `time`).
struct SequenceLayer {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& lengths)> f;
  bool causal = true;
};

template <class Layers, class... Options>
SequenceLayer recurrent(const std::string& name, bool causal, const Options&... options) {
  Rng rng(5);
  const auto layer = moved(Layers(kWidth, 3, rng, options...));
  return {name, [=](const Tensor& x, const Tensor& lengths) { return layer(x, lengths).output; },
          causal};
}

template <class Module>
SequenceLayer pointwise(const std::string& name, const Module& made) {
  const auto layer = moved(made);
  return {name, [=](const Tensor& x, const Tensor&) { return layer(x); }};
}

std::vector<SequenceLayer> sequence_layers() {
  Rng rng(6);
  const auto conv = moved(CausalConv1d(kWidth, 3, 2, rng, {.dilation = 2}));
  const SinusoidalPositions sinusoidal(12, kWidth);
  return {
      recurrent<RNN>("RNN", true, RecurrentOptions<RNNCell>{.num_layers = 2}),
      recurrent<LSTM>("LSTM", true, RecurrentOptions<LSTMCell>{.num_layers = 2}),
      recurrent<GRU>("GRU", true, RecurrentOptions<GRUCell>{.num_layers = 2}),
      recurrent<RNN>("RNN, both directions", false,
                     RecurrentOptions<RNNCell>{.num_layers = 2, .bidirectional = true}),
      recurrent<LSTM>("LSTM, both directions", false,
                      RecurrentOptions<LSTMCell>{.num_layers = 2, .bidirectional = true}),
      recurrent<GRU>("GRU, both directions", false,
                     RecurrentOptions<GRUCell>{.num_layers = 2, .bidirectional = true}),
      recurrent<AttentiveRNN>("AttentiveRNN", true),
      recurrent<LSTMN>("LSTMN", true),
      {"CausalConv1d",
       [=](const Tensor& x, const Tensor&) { return transpose(conv(transpose(x, 1, 2)), 1, 2); }},
      pointwise("Linear", Linear(kWidth, 3, rng)),
      pointwise("FeedForward", FeedForward({.d_model = kWidth, .d_ff = 6}, rng)),
      pointwise("LayerNorm", LayerNorm(kWidth)),
      pointwise("RmsNorm", RmsNorm(kWidth)),
      pointwise("LearnedPositions", LearnedPositions(12, kWidth, rng)),
      {"SinusoidalPositions", [=](const Tensor& x, const Tensor&) { return sinusoidal(x); }},
  };
}

// f(x) with token t changed: the same before t bit for bit, and, for some t at least, another at t
// (weights by relu may ignore a token).
void check_causal(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = random({2, kTime, kWidth}, 7);
  const Tensor y = f(x);
  double difference = 0;
  for (std::int64_t t = 0; t < kTime; ++t) {
    CAPTURE(t);
    const Tensor changed = clone(x);
    assign(select(changed, 1, t), random({2, kWidth}, 8));
    const Tensor z = f(changed);
    CHECK(slice(y, 1, 0, t).to_vector<double>() == slice(z, 1, 0, t).to_vector<double>());
    difference = std::max(difference, test::max_difference(select(y, 1, t), select(z, 1, t)));
  }
  CHECK(difference > 1e-3);
}

// Rows of lengths 9 and 3 in a batch padded to 11 with large numbers: each is as it is alone.
void check_padding(const std::function<Tensor(const Tensor& x, const Tensor& lengths)>& f) {
  const std::vector<std::int64_t> lengths{kTime, 3};
  const Tensor clean = random({2, kTime + 2, kWidth}, 9);
  const Tensor inside =
      unsqueeze(lt(arange(kTime + 2, DType::i64), unsqueeze(from_vector(lengths, {2}), 1)), 2);
  const Tensor y = f(masked_fill(clean, logical_not(inside), 1e3), from_vector(lengths, {2}));
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    const Tensor alone = f(slice(slice(clean, 0, b, b + 1), 1, 0, length), {});
    CHECK(test::max_difference(slice(slice(y, 0, b, b + 1), 1, 0, length), alone) < 1e-6);
  }
}

// Each row of a batch is as it is alone.
void check_batch(const std::function<Tensor(const Tensor&)>& f, const Shape& shape) {
  const Tensor x = random(shape, 10);
  const Tensor y = f(x);
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    CHECK(test::max_difference(slice(y, 0, b, b + 1), f(slice(x, 0, b, b + 1))) < 1e-6);
  }
}

}  // namespace

TEST_CASE("law: under a causal mask a later token changes nothing before it, bit for bit") {
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    check_causal([&](const Tensor& x) { return layer.f(x, causal_mask(kTime)); });
  }
}

TEST_CASE("law: causal layers know nothing of later tokens, bit for bit") {
  for (const SequenceLayer& layer : sequence_layers()) {
    if (!layer.causal) continue;
    CAPTURE(layer.name);
    check_causal([&](const Tensor& x) { return layer.f(x, {}); });
  }
}

TEST_CASE("law: padding changes nothing for real tokens") {
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    check_padding([&](const Tensor& x, const Tensor& lengths) {
      return layer.f(x, lengths.defined() ? padding_mask(lengths, x.size(1)) : Tensor());
    });
  }
  for (const SequenceLayer& layer : sequence_layers()) {
    CAPTURE(layer.name);
    check_padding(layer.f);
  }
}

TEST_CASE("law: padding of a memory changes nothing") {
  Rng rng(11);
  const auto layer =
      moved(TransformerDecoderLayer({.d_model = kWidth, .num_heads = 2, .d_ff = 6}, rng));
  const Tensor x = random({2, kTime, kWidth}, 12), memory = random({2, 3, kWidth}, 13);
  const Tensor more = concat({memory, full({2, 2, kWidth}, 1e3, DType::f64)}, 1);
  const Tensor real = padding_mask(tensor({3, 3}, DType::i64), 5);
  CHECK(test::max_difference(layer(x, more, {}, real), layer(x, memory)) < 1e-6);
  CHECK(test::max_difference(layer(x, more), layer(x, memory)) > 1e-6);
}

TEST_CASE("law: row b of a batch equals the row alone") {
  const Shape sequences{3, kTime, kWidth}, images{3, 4, 4, 6};
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    check_batch([&](const Tensor& x) { return layer.f(x, {}); }, sequences);
  }
  for (const SequenceLayer& layer : sequence_layers()) {
    CAPTURE(layer.name);
    check_batch([&](const Tensor& x) { return layer.f(x, {}); }, sequences);
  }
  Rng rng(14);
  check_batch(moved(Conv1d(kTime, 2, 3, rng)), sequences);
  check_batch(moved(Conv2d(4, 2, {2, 3}, rng, {.padding = 1, .groups = 2})), images);
  check_batch(moved(ConvTranspose2d(4, 2, {2, 3}, rng, {.stride = 2})), images);
  check_batch(moved(ImageAttention(4, rng, {.reduction = 2})), images);
  check_batch(moved(BatchNorm1d(kTime)), sequences);  // outside training
  check_batch(moved(BatchNorm2d(4)), images);
  check_batch([](const Tensor& x) { return max_pool2d(x, {.kernel = 2}); }, images);
  check_batch([](const Tensor& x) { return avg_pool2d(x, {.kernel = 2}); }, images);
}

TEST_CASE("law: without positions self-attention follows a permutation of its tokens") {
  const Tensor x = random({2, kTime, kWidth}, 15);
  const Tensor order = tensor({2, 0, 4, 8, 7, 3, 1, 6, 5}, DType::i64);
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    const double difference = test::max_difference(layer.f(index_select(x, 1, order), {}),
                                                   index_select(layer.f(x, {}), 1, order));
    CHECK((layer.knows_order ? difference > 1e-3 : difference < 1e-12));
  }
}

TEST_CASE("law: a window of full width is no window") {
  const Tensor x = random({2, kTime, kWidth}, 16);
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    const Tensor y = layer.f(x, {});
    CHECK(test::max_difference(layer.f(x, window_mask(kTime, kTime - 1)), y) < 1e-12);
    CHECK(test::max_difference(layer.f(x, window_mask(kTime, 1)), y) > 1e-6);
  }
}

TEST_CASE("law: a boolean mask equals the float mask with 0 and -inf in its place") {
  const Tensor x = random({2, kTime, kWidth}, 17), mask = causal_mask(kTime);
  const Tensor added = where(mask, scalar(0, DType::f64), scalar(-INFINITY, DType::f64));
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    CHECK(test::max_difference(layer.f(x, mask), layer.f(x, added)) < 1e-12);
  }
}

// The gradient of a token's output with respect to every token is 0 but for its own, which a
// residual connection may pass on.
TEST_CASE("law: a token with nothing to attend to takes nothing, and sends no gradient, MSK1") {
  const std::int64_t blind = 4;
  const Tensor may = unsqueeze(ne(arange(kTime), static_cast<double>(blind)), 1);
  const Tensor mask = logical_and(may, causal_mask(kTime));
  const Tensor added = where(mask, scalar(0, DType::f64), scalar(-INFINITY, DType::f64));
  for (const AttentionLayer& layer : attention_layers()) {
    CAPTURE(layer.name);
    const bool residual = layer.name.find("Transformer") == 0;
    const bool biased = layer.name.find("Multihead") == 0 && !layer.name.ends_with("without bias");
    for (const Tensor& either : {mask, added}) {
      const Tensor x = test::input({2, kTime, kWidth}, 27);
      const Tensor y = select(layer.f(x, either), 1, blind);
      if (!residual) {
        CHECK((max(abs(y)).item() == 0) == !biased);  // a bias is all that is left
        CHECK(select(y, 0, 0).to_vector<double>() == select(y, 0, 1).to_vector<double>());
      }
      y.backward(random(y.shape(), 28));
      const auto others = unsqueeze(may, 0);
      CHECK(max(abs(masked_fill(x.grad(), logical_not(others), 0))).item() == 0);
      CHECK((max(abs(x.grad())).item() > 1e-3) == residual);
    }
  }
}

namespace {

// A layer whose output is linear in what it drops, as a function of x [2, kTime, kWidth].
struct DroppingLayer {
  std::string name;
  std::function<Tensor(const Tensor& x, double p)> f;
};

std::vector<DroppingLayer> dropping_layers() {
  Rng rng(18);
  const auto forward = moved(FeedForward({.d_model = kWidth, .d_ff = 6}, rng));
  std::vector<DroppingLayer> layers{
      {"scaled_dot_product_attention",
       [](const Tensor& x, double p) {
         return scaled_dot_product_attention(x, x, x, {}, {.dropout = p});
       }},
      {"FeedForward",
       [=](const Tensor& x, double p) {
         FeedForward layer = forward;
         layer.dropout = p;
         return layer(x);
       }},
  };
  for (const AttentionPositions& positions :
       {AttentionPositions(), AttentionPositions(RotaryPositions(12, kWidth / 2)),
        AttentionPositions(AlibiPositions{}),
        AttentionPositions(RelativePositions(2, kWidth / 2, rng))}) {
    MultiheadAttention made(kWidth, 2, rng);
    made.positions = positions;
    const auto heads = moved(made);
    layers.push_back({fmt::format("MultiheadAttention, positions {}", positions.index()),
                      [=](const Tensor& x, double p) {
                        MultiheadAttention layer = heads;
                        layer.dropout = p;
                        return layer(x, x, x);
                      }});
  }
  return layers;
}

}  // namespace

TEST_CASE("law: dropout keeps the mean within 3 sigma") {
  const Tensor x = random({2, kTime, kWidth}, 19), weights = random({2, kTime, kWidth}, 20);
  for (const DroppingLayer& layer : dropping_layers()) {
    CAPTURE(layer.name);
    const auto measure = [&](double p) { return sum(layer.f(x, p) * weights).item(); };
    const double want = measure(0);
    Rng rng(21);
    const TrainingScope training(rng);
    const int draws = 1000;
    double total = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      const double value = measure(0.4);
      total += value;
      squares += value * value;
    }
    const double mean = total / draws;
    const double sigma = std::sqrt((squares / draws - mean * mean) / draws);
    CHECK(sigma > 0);
    CHECK(std::abs(mean - want) < 3 * sigma);
  }
}

TEST_CASE("law: dropout is the identity outside training, and for p = 0") {
  const Tensor x = random({2, kTime, kWidth}, 22);
  Rng rng(23);
  for (const DroppingLayer& layer : dropping_layers()) {
    CAPTURE(layer.name);
    const auto plain = layer.f(x, 0).to_vector<double>();
    CHECK(layer.f(x, 0.4).to_vector<double>() == plain);
    const TrainingScope training(rng);
    CHECK(layer.f(x, 0).to_vector<double>() == plain);
    CHECK(layer.f(x, 0.4).to_vector<double>() != plain);
  }
  for (const bool norm_first : {false, true}) {
    TransformerLayerOptions options{
        .d_model = kWidth, .num_heads = 2, .d_ff = 6, .dropout = 0.4, .norm_first = norm_first};
    auto encoder = moved(TransformerEncoderLayer(options, rng));
    auto decoder = moved(TransformerDecoderLayer(options, rng));
    const Tensor dropped = encoder(x), decoded = decoder(x, x);
    const auto in_training = [&] {
      const TrainingScope training(rng);
      return std::pair(encoder(x), decoder(x, x));
    }();
    CHECK(test::max_difference(in_training.first, dropped) > 1e-3);
    CHECK(test::max_difference(in_training.second, decoded) > 1e-3);
    encoder.dropout = encoder.self_attn.dropout = encoder.feed_forward.dropout = 0;
    decoder.dropout = decoder.self_attn.dropout = decoder.multihead_attn.dropout =
        decoder.feed_forward.dropout = 0;
    CHECK(encoder(x).to_vector<double>() == dropped.to_vector<double>());
    CHECK(decoder(x, x).to_vector<double>() == decoded.to_vector<double>());
  }
}

TEST_CASE("law: a Transformer layer that drops every part leaves what the norms make of x") {
  const Tensor x = random({2, kTime, kWidth}, 24), memory = random({2, 3, kWidth}, 25);
  Rng rng(26);
  const TrainingScope training(rng);
  for (const bool norm_first : {false, true}) {
    const TransformerLayerOptions options{
        .d_model = kWidth, .num_heads = 2, .d_ff = 6, .dropout = 0, .norm_first = norm_first};
    auto encoder = moved(TransformerEncoderLayer(options, rng));
    auto decoder = moved(TransformerDecoderLayer(options, rng));
    encoder.dropout = decoder.dropout = 1;
    const auto& e = encoder;
    const auto& d = decoder;
    const Tensor encoded = norm_first ? x : e.norm2(e.norm1(x));
    const Tensor decoded = norm_first ? x : d.norm3(d.norm2(d.norm1(x)));
    CHECK(test::max_difference(encoder(x), encoded) < 1e-12);
    CHECK(test::max_difference(decoder(x, memory), decoded) < 1e-12);
  }
}
