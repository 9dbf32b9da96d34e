// What must hold for every model that reads a source and writes a target.
#pragma once

#include <doctest/doctest.h>

#include "core/scope.h"
#include "models/checkpoint.h"
#include "models/decode.h"
#include "nn/module.h"
#include "optim/adam.h"
#include "tests/core/temporary.h"
#include "tests/nn/layers_test.h"

namespace gradzoo::test {

inline Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

// Two rows with different lengths on both sides; at least 7 source and 7 target ids.
inline const Tensor kSource = ids({{4, 5, 6}, {6, 4, 0}});
inline const Tensor kLengths = ids({3, 2});
inline const Tensor kTargetIn = ids({{1, 4, 5, 3}, {1, 5, 0, 0}});
inline const Tensor kTargetOut = ids({{4, 5, 3, 2}, {5, 2, 0, 0}});

/// Every parameter's gradient of the whole loss, in f64.
template <class Model>
void check_loss_gradients(const Model& made, double label_smoothing = 0) {
  const Model model = nn::to(made, DType::f64);
  const auto loss = [&](const std::vector<Tensor>&) {
    return model.loss(kSource, kLengths, kTargetIn, kTargetOut, label_smoothing);
  };
  const auto result = nn::gradcheck(model, loss, {});
  CHECK_MESSAGE(result.ok, result.report);
}

/// The logits of decode_step for the columns of `target`, [rows, time, vocab].
template <class Model, class State>
Tensor step_by_step(const Model& model, State& state, const Tensor& target) {
  const NoGrad no_grad;
  std::vector<Tensor> steps;
  for (std::int64_t t = 0; t < target.size(1); ++t) {
    steps.push_back(model.decode_step(select(target, 1, t), state));
  }
  return stack(steps, 1);
}

/// Step by step equals all at once, also after rows were dropped, doubled and reordered half way.
template <class Model>
void check_steps(const Model& model, double tolerance = 1e-5) {
  const Tensor target = ids({{1, 4, 5, 3, 6}, {1, 5, 6, 4, 5}});
  auto state = model.start(kSource, kLengths);
  const Tensor full = model(kSource, kLengths, target);
  CHECK(max_difference(step_by_step(model, state, target), full) < tolerance);
  auto reordered = model.start(kSource, kLengths);
  step_by_step(model, reordered, slice(target, 1, 0, 2));
  const Tensor rows = ids({1, 1, 0});
  reordered.select(rows);
  const Tensor rest = step_by_step(model, reordered, index_select(slice(target, 1, 2), 0, rows));
  CHECK(max_difference(rest, index_select(slice(full, 1, 2), 0, rows)) < tolerance);
}

/// What stands behind the lengths, how much of it, and what else is in the batch changes nothing.
template <class Model>
void check_padding(const Model& model, double tolerance = 1e-5) {
  const Tensor plain = model(kSource, kLengths, kTargetIn);
  const Tensor longer = model(ids({{4, 5, 6, 0, 0}, {6, 4, 5, 5, 5}}), kLengths, kTargetIn);
  CHECK(max_difference(plain, longer) < tolerance);
  const Tensor alone = model(ids({{6, 4}}), ids({2}), slice(kTargetIn, 0, 1, 2));
  CHECK(max_difference(slice(plain, 0, 1, 2), alone) < tolerance);
  auto state = model.start(ids({{4, 5, 6, 0}, {6, 4, 5, 5}}), kLengths);
  CHECK(max_difference(step_by_step(model, state, kTargetIn), plain) < tolerance);
}

/// A later target token changes nothing before it, bit for bit; a source token changes everything.
template <class Model>
void check_causality(const Model& model) {
  const Tensor before = model(kSource, kLengths, kTargetIn);
  const Tensor after = model(kSource, kLengths, ids({{1, 4, 3, 5}, {1, 5, 4, 4}}));  // from 2 on
  CHECK(slice(before, 1, 0, 2).to_vector<float>() == slice(after, 1, 0, 2).to_vector<float>());
  CHECK(max_difference(slice(before, 1, 2), slice(after, 1, 2)) > 1e-4);
  const Tensor other = model(ids({{5, 5, 6}, {6, 5, 0}}), kLengths, kTargetIn);
  for (std::int64_t b = 0; b < 2; ++b) {
    CHECK(max_difference(select(select(before, 0, b), 0, 0), select(select(other, 0, b), 0, 0)) >
          1e-6);
  }
}

/// One batch is learned by heart and then decoded.
template <class Model>
void check_overfits(const Model& model, double lr = 0.01, int steps = 200) {
  optim::Adam adam(nn::named_parameters(model), {.lr = lr});
  const auto loss = [&] { return model.loss(kSource, kLengths, kTargetIn, kTargetOut); };
  for (int step = 0; step < steps; ++step) {
    adam.zero_grad();
    loss().backward();
    adam.step();
  }
  CHECK(loss().item() < 1e-2);
  const auto answers = models::greedy(models::Decoder(model, kSource, kLengths), {.max_length = 5});
  CHECK(answers[0].tokens == std::vector<std::int64_t>{4, 5, 3});
  CHECK(answers[1].tokens == std::vector<std::int64_t>{5});
}

/// A file alone makes the model again, the same bits of logits.
template <class Model>
void check_checkpoint(const Model& model) {
  const TemporaryDirectory folder;
  const std::string path = folder / "model.safetensors";
  models::save_model(path, model, {{"note", "kept"}});
  CHECK(models::model_name(path) == Model::kName);
  CHECK(load_metadata(path).at("note") == "kept");
  const Model loaded = models::load_model<Model>(path);
  CHECK(loaded(kSource, kLengths, kTargetIn).template to_vector<float>() ==
        model(kSource, kLengths, kTargetIn).template to_vector<float>());
  CHECK(nn::parameter_count(loaded) == nn::parameter_count(model));
}

}  // namespace gradzoo::test
