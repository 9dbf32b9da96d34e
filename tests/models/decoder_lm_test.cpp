// The decoder-only model: laws, finite differences of its whole loss, and that it can learn.
#include "models/decoder_lm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/models/model_laws.h"

using namespace gradzoo;
using namespace gradzoo::test;
using models::DecoderLM;
using models::DecoderLMConfig;
using models::Positions;

namespace {

DecoderLMConfig tiny(Positions positions = Positions::learned, bool tied = true) {
  return {.vocab = 7,
          .d_model = 4,
          .num_heads = 2,
          .num_layers = 2,
          .d_ff = 5,
          .dropout = 0,
          .positions = positions,
          .tie_embeddings = tied,
          .max_length = 10};
}

template <class F>
void for_each_variant(const F& f) {
  for (const Positions positions : {Positions::none, Positions::sinusoidal, Positions::learned,
                                    Positions::rotary, Positions::alibi, Positions::relative}) {
    CAPTURE(std::string(nn::choice_name(positions)));
    Rng rng(2);
    const DecoderLM model(tiny(positions, positions != Positions::rotary), rng);
    // The initial values are so small that all tokens look alike.
    for (const auto& [name, tensor] : nn::named_parameters(model)) {
      if (tensor.dim() == 2) assign(tensor, randn(tensor.shape(), rng) * 0.5);
    }
    f(model);
  }
}

}  // namespace

TEST_CASE("DecoderLM: logits for each target place; an untrained model is near uniform") {
  Rng rng(1);
  const DecoderLM model(tiny(), rng);
  CHECK(model(kSource, kLengths, kTargetIn).shape() == Shape{2, 4, 7});
  CHECK(model.loss(kSource, kLengths, kTargetIn, kTargetOut).item() ==
        doctest::Approx(std::log(7.0)).epsilon(0.05));
}

TEST_CASE(
    "DecoderLM: every parameter's gradient of the whole loss, for every scheme of positions") {
  for_each_variant([](const DecoderLM& model) { check_loss_gradients(model); });
}

TEST_CASE("DecoderLM: causality, bit for bit") {
  for_each_variant([](const DecoderLM& model) { check_causality(model); });
}

TEST_CASE("DecoderLM: padding and company change nothing") {
  for_each_variant([](const DecoderLM& model) { check_padding(model); });
}

TEST_CASE("KVC1, KVC3: DecoderLM: step by step equals all at once, rows reordered too") {
  for_each_variant([](const DecoderLM& model) { check_steps(model); });
}

TEST_CASE("DecoderLM: without a source it is a language model, and a source is a prefix") {
  for_each_variant([](const DecoderLM& model) {
    const Tensor text = ids({{4, 6, 5, 5, 3, 4}});
    const Tensor none = zeros({1, 0}, DType::i64);
    const Tensor all = model(none, ids({0}), text);
    const Tensor rest = model(slice(text, 1, 0, 2), ids({2}), slice(text, 1, 2));
    CHECK(max_difference(slice(all, 1, 2), rest) < 1e-6);
    auto state = model.start(none, ids({0}));
    CHECK(max_difference(step_by_step(model, state, text), all) < 1e-5);
  });
}

TEST_CASE("DecoderLM: a batch is learned by heart, and then decoded") {
  Rng rng(6);
  DecoderLMConfig config = tiny();
  config.d_model = 16;
  config.d_ff = 32;
  check_overfits(DecoderLM(config, rng));
}

TEST_CASE("DecoderLM: a checkpoint makes the model again") {
  for_each_variant([](const DecoderLM& model) { check_checkpoint(model); });
}

TEST_CASE("DecoderLM: the weights of every head of every layer") {
  Rng rng(5);
  const DecoderLM model(tiny(), rng);
  const std::vector<Tensor> all = model.attention(kSource, kLengths, kTargetIn);
  REQUIRE(all.size() == 2);
  CHECK(all[0].shape() == Shape{2, 2, 7, 7});
  CHECK(max(abs(triu(all[1], 1))).item() == 0);
  // Row 1 begins at place 1: nobody looks before it.
  CHECK(max(abs(slice(slice(all[0], 0, 1, 2), 3, 0, 1))).item() == 0);
}

TEST_CASE("DecoderLM: the number of parameters is GPT's arithmetic") {
  Rng rng(7);
  const std::int64_t d = 4, f = 5, vocab = 7, norm = 2 * d;
  const std::int64_t block = (4 * d * d + 4 * d) + (2 * d * f + f + d) + 2 * norm;
  const std::int64_t tied = vocab * d + 10 * d + 2 * block + norm;
  CHECK(nn::parameter_count(DecoderLM(tiny(), rng)) == tied);
  CHECK(nn::parameter_count(DecoderLM(tiny(Positions::learned, false), rng)) == tied + vocab * d);
  // The smallest GPT-2 without making it: 124,439,808.
  const std::int64_t D = 768, F = 3072;
  const std::int64_t gpt2 =
      50257 * D + 1024 * D + 12 * ((4 * D * D + 4 * D) + (2 * D * F + F + D) + 4 * D) + 2 * D;
  CHECK(gpt2 == 124439808);
}

TEST_CASE("B05, POS5: DecoderLM: what makes no sense is refused, naming the field") {
  Rng rng(8);
  DecoderLMConfig config = tiny();
  config.num_layers = 0;
  CHECK_THROWS_WITH_AS(DecoderLM(config, rng), "DecoderLM: num_layers must be at least 1, got 0",
                       Error);
  config = tiny();
  config.num_heads = 3;
  CHECK_THROWS_AS(DecoderLM(config, rng), Error);
  const DecoderLM model(tiny(), rng);
  const Tensor none = zeros({2, 0}, DType::i64);
  CHECK(model(none, ids({0, 0}), full({2, 10}, 4, DType::i64)).size(1) == 10);
  CHECK_THROWS_AS(model(none, ids({0, 0}), full({2, 11}, 4, DType::i64)), Error);
  CHECK_THROWS_AS(model(kSource, ids({3, 4}), kTargetIn), Error);
  // A short source may be followed by as much as it has places for, beside a long one.
  auto state = model.start(kSource, ids({3, 1}));
  step_by_step(model, state, full({2, 7}, 4, DType::i64));
  CHECK_THROWS_AS(model.decode_step(ids({4, 4}), state), Error);
  auto short_one = model.start(kSource, ids({3, 1}));
  short_one.select(ids({1}));
  step_by_step(model, short_one, full({1, 9}, 4, DType::i64));
  CHECK_THROWS_AS(model.decode_step(ids({4}), short_one), Error);
}
