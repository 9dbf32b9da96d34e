// Training, measuring and saving each model of the zoo.
#include "examples/common/trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "examples/common/check_grad.h"
#include "examples/common/evaluate.h"
#include "nn/config.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

constexpr ModelKind kKinds[] = {ModelKind::transformer, ModelKind::rnn,        ModelKind::lstm,
                                ModelKind::gru,         ModelKind::decoder_lm, ModelKind::encoder};

const Vocabulary kWords = task_vocabulary(Task::copy, 5);

// The small config, smaller.
ZooConfig tiny(ModelKind kind) {
  ZooConfig config = small_config(kind);
  std::visit(
      [](auto& c) {
        std::remove_cvref_t<decltype(c)>::fields(
            c, [](const std::string& name, auto& value, auto&&...) {
              if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::int64_t>) {
                if (name == "d_model" || name == "d_ff" || name == "hidden_size") value = 8;
                if (name == "embedding_dim") value = 6;
                if (name == "max_length") value = 16;
              }
            });
        c.dropout = 0.1;
      },
      config);
  set_vocabularies(config, kWords, kWords);
  return config;
}

ZooModel make(ModelKind kind, std::uint64_t seed = 1) {
  Rng rng(seed);
  return make_model(tiny(kind), rng);
}

TaskBatches batches() { return {{Task::copy, Split::train, 5, 1, 4, 1}, 6}; }

std::vector<std::vector<float>> weights(const ZooModel& model) {
  std::vector<std::vector<float>> all;
  for (const auto& [name, tensor] : named_parameters(model))
    all.push_back(tensor.to_vector<float>());
  return all;
}

}  // namespace

TEST_CASE("TRN2, TRN4: every model goes on from a file as if it had never stopped") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "last.safetensors";
  for (const ModelKind kind : kKinds) {
    CAPTURE(std::string(nn::choice_name(kind)));
    const TrainerOptions options{.warmup_steps = 2, .steps = 6};
    const ZooModel whole = make(kind);
    TaskBatches data = batches();
    Trainer trainer(whole, data, options);
    while (!trainer.done()) {
      trainer.step();
      if (trainer.state().step == 3) trainer.validated(2.5);
      if (trainer.state().step == 3) trainer.save(path);
    }
    const ZooModel other = make(kind, 2);
    TaskBatches again = batches();
    Trainer resumed(other, again, options);
    resumed.load(path);
    CHECK(resumed.state().step == 3);
    CHECK(resumed.state().best_loss == 2.5);
    while (!resumed.done()) resumed.step();
    CHECK(weights(other) == weights(whole));
    CHECK(again.position() == data.position());
    const ZooModel smaller = make(kind == ModelKind::gru ? ModelKind::lstm : ModelKind::gru);
    Trainer wrong(smaller, data, options);
    const auto before = weights(smaller);
    CHECK_THROWS_WITH_AS(wrong.load(path), doctest::Contains(path.c_str()), Error);
    CHECK(weights(smaller) == before);
  }
}

TEST_CASE("every model predicts, answers, and comes back from a checkpoint with its vocabularies") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "model.safetensors";
  const std::vector<Pair> pairs = TaskStream({Task::copy, Split::held_out, 5, 1, 4, 2}).next(8);
  for (const ModelKind kind : kKinds) {
    CAPTURE(std::string(nn::choice_name(kind)));
    const ZooModel model = make(kind);
    const Evaluation evaluation = evaluate(model, pairs);
    CHECK(evaluation.answers.size() == 8);
    CHECK(mean_loss(model, pairs) == doctest::Approx(std::log(9)).epsilon(0.3));
    save_checkpoint(path, {model, kWords, kWords});
    const ZooCheckpoint loaded = load_checkpoint(path);
    CHECK(evaluate(loaded.model, pairs).answers == evaluation.answers);
    CHECK(loaded.source.to_json() == kWords.to_json());
    CHECK(parameter_count(loaded.model) == parameter_count(model));
    // Alone, a source has the answer it has in a batch; the limit is that of the longest target.
    const auto longest = std::max_element(
        pairs.begin(), pairs.end(),
        [](const Pair& a, const Pair& b) { return a.target.size() < b.target.size(); });
    CHECK(evaluate(model, {pairs[3], *longest}).answers[0] == evaluation.answers[3]);
  }
}

TEST_CASE("exact match counts sequences, token accuracy places of the longer of the two") {
  const std::vector<Pair> pairs{{{}, {4, 5}}, {{}, {4, 5}}, {{}, {4, 5}}, {{}, {}}};
  const Evaluation counted = compared({{4, 5}, {4, 6, 5}, {5}, {}}, pairs);
  CHECK(counted.exact_match == 0.5);
  CHECK(counted.token_accuracy == doctest::Approx(3.0 / 7));  // 2 of 2, 1 of 3, 0 of 2, 0 of 0
  CHECK(compared({}, {}).exact_match == 0);
  CHECK_THROWS_AS(compared({{4}}, {}), Error);
}

TEST_CASE("directional differences find every gradient right, and a wrong one wrong") {
  for (const ModelKind kind : kKinds) {
    CAPTURE(std::string(nn::choice_name(kind)));
    TaskBatches data = batches();
    Rng rng(3);
    for (const DirectionCheck& check : check_directions(make(kind), data.next(), rng)) {
      CAPTURE(check.name);
      CHECK(check.ok);
      CHECK(check.numeric == doctest::Approx(check.analytic).epsilon(1e-4));
    }
  }
}

TEST_CASE("a loss that is not finite ends training and leaves the weights as they were") {
  const ZooModel model = make(ModelKind::transformer);
  TaskBatches data = batches();
  Trainer trainer(model, data, {.steps = 5});
  trainer.step();
  const Tensor weight = named_parameters(model).back().second;
  assign(weight, full_like(weight, INFINITY));
  const auto before = weights(model);
  CHECK_THROWS_WITH_AS(trainer.step(), doctest::Contains("step 2: the loss is"), Diverged);
  CHECK(weights(model) == before);
  CHECK(trainer.state().step == 1);
}

TEST_CASE("every optimizer and schedule makes the loss smaller") {
  for (const OptimizerKind optimizer :
       {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::rmsprop,
        OptimizerKind::adagrad}) {
    for (const ScheduleKind schedule :
         {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::noam,
          ScheduleKind::inverse_sqrt, ScheduleKind::step, ScheduleKind::plateau}) {
      CAPTURE(std::string(nn::choice_name(optimizer)));
      CAPTURE(std::string(nn::choice_name(schedule)));
      const ZooModel model = make(ModelKind::gru);
      TaskBatches data = batches();
      const bool strong = optimizer == OptimizerKind::sgd || optimizer == OptimizerKind::adagrad;
      Trainer trainer(model, data,
                      {.optimizer = optimizer,
                       .lr = (strong ? 0.2 : 0.01) * (schedule == ScheduleKind::noam ? 10 : 1),
                       .momentum = 0.5,
                       .schedule = schedule,
                       .warmup_steps = 5,
                       .steps = 40});
      const double first = trainer.step().loss;
      double last = first;
      while (!trainer.done()) last = trainer.step().loss;
      CHECK(last < first);
    }
  }
}

TEST_CASE("what fits a model: its places for source and answer") {
  const ZooConfig transformer = tiny(ModelKind::transformer);  // 16 places
  CHECK(fits(transformer, 16, 15));
  CHECK(!fits(transformer, 17, 1));
  CHECK(!fits(transformer, 1, 16));
  const ZooConfig lm = tiny(ModelKind::decoder_lm);  // 16 for both, and the begin symbol
  CHECK(fits(lm, 8, 7));
  CHECK(!fits(lm, 8, 8));
  const ZooConfig encoder = tiny(ModelKind::encoder);  // 7 for answer and end symbol
  CHECK(fits(encoder, 8, 6));
  CHECK(!fits(encoder, 8, 7));
  CHECK(!fits(encoder, 9, 1));
  CHECK(fits(tiny(ModelKind::gru), 1000, 1000));
  // And what fits can be learned from and answered.
  struct Case {
    ModelKind kind;
    std::size_t source, target;
  };
  for (const Case& c : {Case{ModelKind::transformer, 16, 15}, Case{ModelKind::decoder_lm, 8, 7},
                        Case{ModelKind::encoder, 8, 6}}) {
    CAPTURE(std::string(nn::choice_name(c.kind)));
    const std::vector<Pair> pairs{{Ids(c.source, 4), Ids(c.target, 5)}};
    CHECK(std::isfinite(mean_loss(make(c.kind), pairs)));
    CHECK(evaluate(make(c.kind), pairs).answers.size() == 1);
  }
}
