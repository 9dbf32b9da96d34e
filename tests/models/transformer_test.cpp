// The Transformer: shapes, laws, finite differences of its whole loss, and that it can learn.
#include "models/transformer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "models/decode.h"
#include "nn/module.h"
#include "optim/adam.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using models::Transformer;
using models::TransformerConfig;

namespace {

TransformerConfig tiny(bool norm_first = false) {
  return {.source_vocab = 7,
          .target_vocab = 6,
          .d_model = 4,
          .num_heads = 2,
          .num_encoder_layers = 1,
          .num_decoder_layers = 1,
          .d_ff = 5,
          .dropout = 0,
          .norm_first = norm_first,
          .max_length = 8};
}

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

const Tensor kSource = ids({{4, 5, 6}, {6, 4, 0}});
const Tensor kLengths = ids({3, 2});
const Tensor kTargetIn = ids({{1, 4, 5, 3}, {1, 5, 0, 0}});
const Tensor kTargetOut = ids({{4, 5, 3, 2}, {5, 2, 0, 0}});

Tensor loss_of(const Transformer& model) {
  return cross_entropy(model(kSource, kLengths, kTargetIn), kTargetOut,
                       {.ignore_index = models::kPad});
}

}  // namespace

TEST_CASE("logits have a row for each target place; an untrained model is near uniform") {
  Rng rng(1);
  const Transformer model(tiny(), rng);
  CHECK(model(kSource, kLengths, kTargetIn).shape() == Shape{2, 4, 6});
  CHECK(loss_of(model).item() == doctest::Approx(std::log(6.0)).epsilon(0.5));
}

TEST_CASE("every parameter's gradient of the whole loss, post-norm and pre-norm") {
  for (const bool norm_first : {false, true}) {
    Rng rng(2);
    const Transformer model = nn::to(Transformer(tiny(norm_first), rng), DType::f64);
    const auto result =
        nn::gradcheck(model, [&](const std::vector<Tensor>&) { return loss_of(model); }, {});
    CHECK_MESSAGE(result.ok, result.report);
  }
}

TEST_CASE("causality: a later target token changes nothing before it, bit for bit") {
  Rng rng(3);
  const Transformer model(tiny(), rng);
  const Tensor changed = ids({{1, 4, 3, 5}, {1, 5, 4, 4}});  // from place 2 on
  const Tensor a = slice(model(kSource, kLengths, kTargetIn), 1, 0, 2);
  const Tensor b = slice(model(kSource, kLengths, changed), 1, 0, 2);
  CHECK(a.to_vector<float>() == b.to_vector<float>());
}

TEST_CASE("padding: what stands behind the lengths, and how much of it, changes nothing") {
  Rng rng(4);
  const Transformer model(tiny(true), rng);
  const Tensor plain = model(kSource, kLengths, kTargetIn);
  const Tensor longer = model(ids({{4, 5, 6, 0, 0}, {6, 4, 5, 5, 5}}), kLengths, kTargetIn);
  CHECK(test::max_difference(plain, longer) < 1e-6);
}

TEST_CASE("batch: a row gives the same alone") {
  Rng rng(5);
  const Transformer model(tiny(), rng);
  const Tensor both = model(kSource, kLengths, kTargetIn);
  const Tensor alone = model(ids({{6, 4}}), ids({2}), slice(kTargetIn, 0, 1, 2));
  CHECK(test::max_difference(slice(both, 0, 1, 2), alone) < 1e-6);
}

TEST_CASE("a batch is learned by heart, and then decoded") {
  Rng rng(6);
  TransformerConfig config = tiny(true);
  config.d_model = 16;
  config.d_ff = 32;
  const Transformer model(config, rng);
  optim::Adam adam(nn::parameters(model), {.lr = 0.01});
  for (int step = 0; step < 150; ++step) {
    adam.zero_grad();
    loss_of(model).backward();
    adam.step();
  }
  CHECK(loss_of(model).item() < 1e-2);
  const auto answers = models::greedy(models::Decoder(model, kSource, kLengths));
  CHECK(answers[0].tokens == std::vector<std::int64_t>{4, 5, 3});
  CHECK(answers[1].tokens == std::vector<std::int64_t>{5});
}

TEST_CASE("the number of parameters is the paper's arithmetic") {
  Rng rng(7);
  const std::int64_t d = 4, f = 5, attention = 4 * d * d + 4 * d, norm = 2 * d;
  const std::int64_t forward = 2 * d * f + f + d;
  const std::int64_t post = (7 + 6) * d + (attention + forward + 2 * norm) +
                            (2 * attention + forward + 3 * norm) + (6 * d + 6);
  CHECK(nn::parameter_count(Transformer(tiny(), rng)) == post);
  CHECK(nn::parameter_count(Transformer(tiny(true), rng)) == post + 2 * norm);
}

TEST_CASE("a config that makes no sense is refused, naming the field") {
  Rng rng(8);
  TransformerConfig config = tiny();
  config.num_heads = 3;
  CHECK_THROWS_WITH_AS(Transformer(config, rng),
                       "Transformer: num_heads must divide d_model, got num_heads 3 and d_model 4",
                       Error);
  config = tiny();
  config.dropout = 1.5;
  CHECK_THROWS_AS(Transformer(config, rng), Error);
  config = tiny();
  config.d_ff = 0;
  CHECK_THROWS_AS(Transformer(config, rng), Error);
}

TEST_CASE("a sequence longer than the positions is refused") {
  Rng rng(9);
  const Transformer model(tiny(), rng);
  CHECK_THROWS_WITH_AS(model.encode(full({1, 9}, 4, DType::i64), ids({9})),
                       "positions: the sequence has 9 tokens, the model was made for at most 8",
                       Error);
}
