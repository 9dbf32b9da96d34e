// The Transformer: shapes, laws, finite differences of its whole loss, and that it can learn.
#include "models/transformer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "nn/mask.h"
#include "tests/models/model_laws.h"

using namespace gradzoo;
using namespace gradzoo::test;
using models::Positions;
using models::Transformer;
using models::TransformerConfig;

namespace {

TransformerConfig tiny(bool norm_first = false) {
  return {.source_vocab = 7,
          .target_vocab = 7,
          .d_model = 4,
          .num_heads = 2,
          .num_encoder_layers = 1,
          .num_decoder_layers = 1,
          .d_ff = 5,
          .dropout = 0,
          .norm_first = norm_first,
          .max_length = 8};
}

// Each option that changes the formula.
std::vector<TransformerConfig> variants() {
  std::vector<TransformerConfig> all{tiny(), tiny(true)};
  for (const Positions positions : {Positions::none, Positions::learned, Positions::rotary,
                                    Positions::alibi, Positions::relative}) {
    all.push_back(tiny(true));
    all.back().positions = positions;
  }
  all.push_back(tiny());
  all.back().tie_embeddings = true;
  return all;
}

template <class F>
void for_each_variant(const F& f) {
  for (const TransformerConfig& config : variants()) {
    CAPTURE(std::string(nn::choice_name(config.positions)));
    CAPTURE(config.norm_first);
    CAPTURE(config.tie_embeddings);
    Rng rng(2);
    f(Transformer(config, rng));
  }
}

}  // namespace

TEST_CASE("Transformer: logits for each target place; an untrained model is near uniform") {
  Rng rng(1);
  const Transformer model(tiny(), rng);
  CHECK(model(kSource, kLengths, kTargetIn).shape() == Shape{2, 4, 7});
  CHECK(model.loss(kSource, kLengths, kTargetIn, kTargetOut).item() ==
        doctest::Approx(std::log(7.0)).epsilon(0.5));
}

TEST_CASE("Transformer: every parameter's gradient of the whole loss, in every variant") {
  for_each_variant([](const Transformer& model) { check_loss_gradients(model); });
  Rng rng(3);
  check_loss_gradients(Transformer(tiny(), rng), 0.1);
}

TEST_CASE("Transformer: causality, bit for bit") {
  for_each_variant([](const Transformer& model) { check_causality(model); });
}

TEST_CASE("Transformer: padding and company change nothing") {
  for_each_variant([](const Transformer& model) { check_padding(model); });
}

TEST_CASE("KVC1, KVC6: Transformer: step by step equals all at once, rows reordered too") {
  for_each_variant([](const Transformer& model) { check_steps(model); });
  Rng rng(4);
  TransformerConfig deep = tiny();
  deep.num_encoder_layers = deep.num_decoder_layers = 3;
  check_steps(Transformer(deep, rng));
}

TEST_CASE("Transformer: a batch is learned by heart, and then decoded") {
  Rng rng(6);
  TransformerConfig config = tiny(true);
  config.d_model = 16;
  config.d_ff = 32;
  check_overfits(Transformer(config, rng));
}

TEST_CASE("Transformer: a checkpoint makes the model again, ties included") {
  for_each_variant([](const Transformer& model) { check_checkpoint(model); });
}

TEST_CASE("Transformer: the weights of every head of every layer are those that were used") {
  Rng rng(5);
  TransformerConfig config = tiny();
  config.num_encoder_layers = 2;
  const Transformer model(config, rng);
  const models::TransformerAttention all = model.attention(kSource, kLengths, kTargetIn);
  REQUIRE(all.encoder.size() == 2);
  REQUIRE(all.decoder.size() == 1);
  REQUIRE(all.memory.size() == 1);
  CHECK(all.encoder[1].shape() == Shape{2, 2, 3, 3});
  CHECK(all.decoder[0].shape() == Shape{2, 2, 4, 4});
  CHECK(all.memory[0].shape() == Shape{2, 2, 4, 3});
  for (const Tensor& weights : {all.encoder[0], all.decoder[0], all.memory[0]}) {
    CHECK(max_difference(sum(weights, {3}), ones(weights.shape().sub(0, 3))) < 1e-6);
  }
  // Row 1 has two source tokens, and no place looks ahead.
  CHECK(max(abs(slice(slice(all.memory[0], 0, 1, 2), 3, 2))).item() == 0);
  CHECK(max(abs(triu(all.decoder[0], 1))).item() == 0);
  // The weights of the first layer, worked out apart.
  const Tensor x = model.source_embedding(kSource);
  const auto& attention = model.encoder_layers[0].self_attn;
  const Tensor want = attention.with_weights(x, x, x, nn::padding_mask(kLengths, 3)).weights;
  CHECK(max_difference(all.encoder[0], want) == 0);
}

TEST_CASE("Transformer: the number of parameters is the paper's arithmetic") {
  Rng rng(7);
  const std::int64_t d = 4, f = 5, attention = 4 * d * d + 4 * d, norm = 2 * d;
  const std::int64_t forward = 2 * d * f + f + d;
  const std::int64_t post = (7 + 7) * d + (attention + forward + 2 * norm) +
                            (2 * attention + forward + 3 * norm) + (7 * d + 7);
  CHECK(nn::parameter_count(Transformer(tiny(), rng)) == post);
  CHECK(nn::parameter_count(Transformer(tiny(true), rng)) == post + 2 * norm);
  TransformerConfig tied = tiny();
  tied.tie_embeddings = true;
  CHECK(nn::parameter_count(Transformer(tied, rng)) == post - 2 * 7 * d);
  TransformerConfig learned = tiny();
  learned.positions = Positions::learned;
  CHECK(nn::parameter_count(Transformer(learned, rng)) == post + 2 * 8 * d);
}

TEST_CASE("B05: Transformer: a config that makes no sense is refused, naming the field") {
  const auto fault = [](auto&& change) -> std::string {
    TransformerConfig config = tiny();
    change(config);
    Rng rng(8);
    try {
      Transformer(config, rng);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(fault([](auto& c) { c.num_heads = 3; }) ==
        "Transformer: num_heads must divide d_model, got num_heads 3 and d_model 4");
  CHECK(fault([](auto& c) { c.dropout = 1.5; }) ==
        "Transformer: dropout must be in [0, 1), got 1.5");
  CHECK(fault([](auto& c) { c.d_ff = 0; }) == "Transformer: d_ff must be at least 1, got 0");
  CHECK(fault([](auto& c) { c.max_length = -1; }) ==
        "Transformer: max_length must be at least 1, got -1");
  CHECK(fault([](auto& c) {
          c.tie_embeddings = true;
          c.target_vocab = 9;
        }) ==
        "Transformer: tie_embeddings needs one vocabulary, got source_vocab 7 and target_vocab 9");
  CHECK(fault([](auto& c) {
          c.num_heads = 4;
          c.positions = Positions::rotary;
        }).find("even") != std::string::npos);
}

TEST_CASE("POS4, POS5: Transformer: the last place can be used, one more is refused") {
  Rng rng(9);
  const Transformer model(tiny(), rng);
  CHECK(model.encode(full({1, 8}, 4, DType::i64), ids({8})).states.shape() == Shape{1, 8, 4});
  CHECK_THROWS_WITH_AS(model.encode(full({1, 9}, 4, DType::i64), ids({9})),
                       "positions: the sequence has 9 tokens, the model was made for at most 8",
                       Error);
  auto state = model.start(kSource, kLengths);
  step_by_step(model, state, full({2, 8}, 4, DType::i64));
  CHECK_THROWS_AS(model.decode_step(ids({4, 4}), state), Error);
}
