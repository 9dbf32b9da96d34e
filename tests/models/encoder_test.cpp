// The encoder-only model: laws, finite differences of both losses, and that it can learn.
#include "models/encoder.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/scope.h"
#include "tests/models/model_laws.h"

using namespace gradzoo;
using namespace gradzoo::test;
using models::Encoder;
using models::EncoderConfig;
using models::Positions;

namespace {

EncoderConfig tiny(bool norm_first = false, Positions positions = Positions::learned) {
  return {.vocab = 8,
          .num_segments = 2,
          .num_classes = 3,
          .d_model = 4,
          .num_heads = 2,
          .num_layers = 1,
          .d_ff = 5,
          .dropout = 0,
          .norm_first = norm_first,
          .positions = positions,
          .max_length = 8};
}

// With weights large enough that tokens differ.
Encoder make(const EncoderConfig& config) {
  Rng rng(2);
  const Encoder model(config, rng);
  for (const auto& [name, tensor] : nn::named_parameters(model)) {
    if (tensor.dim() == 2) assign(tensor, randn(tensor.shape(), rng) * 0.5);
  }
  return model;
}

const Tensor kTargets = ids({{-100, 5, -100}, {6, -100, -100}});
const Tensor kClasses = ids({2, 0});

template <class F>
void for_each_variant(const F& f) {
  f(make(tiny()));
  for (const Positions positions : {Positions::none, Positions::sinusoidal, Positions::rotary,
                                    Positions::alibi, Positions::relative}) {
    CAPTURE(std::string(nn::choice_name(positions)));
    f(make(tiny(true, positions)));
  }
}

}  // namespace

TEST_CASE("Encoder: states, token logits and class logits have their shapes") {
  const Encoder model = make(tiny());
  const Tensor states = model(kSource, kLengths);
  CHECK(states.shape() == Shape{2, 3, 4});
  CHECK(model.token_logits(states).shape() == Shape{2, 3, 8});
  CHECK(model.class_logits(states).shape() == Shape{2, 3});
  Rng rng(1);
  CHECK(Encoder(tiny(), rng).loss(kSource, kLengths, kTargets).item() ==
        doctest::Approx(std::log(8.0)).epsilon(0.05));
}

TEST_CASE("Encoder: every parameter's gradient of both losses") {
  for_each_variant([](const Encoder& made) {
    const Encoder model = nn::to(made, DType::f64);
    for (const double smoothing : {0.0, 0.1}) {
      const auto loss = [&](const std::vector<Tensor>&) {
        return model.loss(kSource, kLengths, kTargets, smoothing) +
               model.classification_loss(kSource, kLengths, kClasses);
      };
      const auto result = nn::gradcheck(model, loss, {});
      CHECK_MESSAGE(result.ok, result.report);
    }
  });
}

TEST_CASE("Encoder: padding and company change nothing, every other token does") {
  for_each_variant([](const Encoder& model) {
    const Tensor plain = model(kSource, kLengths);
    const Tensor longer = model(ids({{4, 5, 6, 0, 0}, {6, 4, 5, 5, 5}}), kLengths);
    CHECK(max_difference(slice(plain, 1, 0, 2), slice(longer, 1, 0, 2)) < 1e-6);
    const Tensor alone = model(ids({{6, 4}}), ids({2}));
    CHECK(max_difference(slice(slice(plain, 0, 1, 2), 1, 0, 2), alone) < 1e-6);
    const Tensor other = model(ids({{4, 5, 7}, {6, 4, 0}}), kLengths);
    CHECK(max_difference(select(select(plain, 0, 0), 0, 0), select(select(other, 0, 0), 0, 0)) >
          1e-4);
  });
}

TEST_CASE("Encoder: segments count, and are 0 when they are not given") {
  const Encoder model = make(tiny());
  const Tensor plain = model(kSource, kLengths);
  CHECK(max_difference(model(kSource, kLengths, zeros({2, 3}, DType::i64)), plain) == 0);
  CHECK(max_difference(model(kSource, kLengths, ones({2, 3}, DType::i64)), plain) > 1e-3);
  CHECK_THROWS_AS(model(kSource, kLengths, ids({{0, 0, 0}})), Error);
}

TEST_CASE("Encoder: masked tokens and classes are learned by heart") {
  Rng rng(6);
  EncoderConfig config = tiny(true);
  config.d_model = 16;
  config.d_ff = 32;
  const Encoder model(config, rng);
  optim::Adam adam(nn::named_parameters(model), {.lr = 0.01});
  const auto loss = [&] {
    return model.loss(kSource, kLengths, kTargets) +
           model.classification_loss(kSource, kLengths, kClasses);
  };
  for (int step = 0; step < 150; ++step) {
    adam.zero_grad();
    loss().backward();
    adam.step();
  }
  CHECK(loss().item() < 1e-2);
  CHECK(argmax(model.class_logits(model(kSource, kLengths)), -1).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{2, 0});
}

TEST_CASE("Encoder: a checkpoint makes the model again") {
  for_each_variant([](const Encoder& model) {
    const TemporaryDirectory folder;
    const std::string path = folder / "model.safetensors";
    models::save_model(path, model);
    const Encoder loaded = models::load_model<Encoder>(path);
    CHECK(loaded(kSource, kLengths).to_vector<float>() ==
          model(kSource, kLengths).to_vector<float>());
  });
}

TEST_CASE("Encoder: the weights of every head of every layer") {
  const Encoder model = make(tiny());
  const std::vector<Tensor> all = model.attention(kSource, kLengths);
  REQUIRE(all.size() == 1);
  CHECK(all[0].shape() == Shape{2, 2, 3, 3});
  CHECK(max(abs(slice(slice(all[0], 0, 1, 2), 3, 2))).item() == 0);  // the padding of row 1
  CHECK(max_difference(sum(all[0], {3}), ones({2, 2, 3})) < 1e-6);
}

TEST_CASE("Encoder: the number of parameters is BERT's arithmetic") {
  const std::int64_t d = 4, f = 5, norm = 2 * d, linear = d * d + d;
  const std::int64_t block = (4 * d * d + 4 * d) + (2 * d * f + f + d) + 2 * norm;
  const std::int64_t want =
      (8 + 2 + 8) * d + norm + block + (linear + norm + 8) + linear + (3 * d + 3);
  CHECK(nn::parameter_count(make(tiny())) == want);
  CHECK(nn::parameter_count(make(tiny(true))) == want + norm);
}

TEST_CASE("mask_tokens: BERT's 80, 10 and 10 percent, of ordinary tokens only") {
  Rng rng(3);
  const std::int64_t n = 40000;
  const Tensor before = randint(0, 14, {4, n / 4}, rng);
  const models::MaskedTokens masked = models::mask_tokens(before, 14, 4, 14, 0.15, rng);
  const auto old_ids = before.to_vector<std::int64_t>(),
             new_ids = masked.ids.to_vector<std::int64_t>(),
             targets = masked.targets.to_vector<std::int64_t>();
  double ordinary = 0, chosen = 0, hidden = 0, kept = 0;
  for (std::size_t i = 0; i < old_ids.size(); ++i) {
    ordinary += old_ids[i] >= 4;
    if (targets[i] == Encoder::kIgnored) {
      CHECK(new_ids[i] == old_ids[i]);
      continue;
    }
    CHECK(targets[i] == old_ids[i]);
    CHECK(old_ids[i] >= 4);
    CHECK(new_ids[i] >= 4);
    chosen += 1;
    hidden += new_ids[i] == 14;
    kept += new_ids[i] == old_ids[i];
  }
  // Three standard deviations of the binomials: n 0.15 0.85, and so on.
  CHECK(chosen / ordinary == doctest::Approx(0.15).epsilon(0.05).scale(0));
  CHECK(hidden / chosen == doctest::Approx(0.8).epsilon(0.025).scale(0));
  CHECK(kept / chosen ==
        doctest::Approx(0.1 + 0.1 / 10).epsilon(0.2).scale(0));  // chance may keep one too
  const models::MaskedTokens none = models::mask_tokens(before, 14, 4, 14, 0, rng);
  CHECK(none.ids.to_vector<std::int64_t>() == old_ids);
  CHECK_THROWS_AS(models::mask_tokens(before, 14, 4, 14, 1.5, rng), Error);
}

TEST_CASE("B05: Encoder: a config that makes no sense is refused, naming the field") {
  Rng rng(8);
  EncoderConfig config = tiny();
  config.num_classes = 0;
  CHECK_THROWS_WITH_AS(Encoder(config, rng), "Encoder: num_classes must be at least 1, got 0",
                       Error);
  config = tiny();
  config.dropout = -0.1;
  CHECK_THROWS_AS(Encoder(config, rng), Error);
}
