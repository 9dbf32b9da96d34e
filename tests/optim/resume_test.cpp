// A whole training run in one file: model, optimizer with groups, schedule, plateau, average, and
// the generator of dropout.
#include <doctest/doctest.h>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/checkpoint.h"
#include "nn/linear.h"
#include "optim/adam.h"
#include "optim/average.h"
#include "optim/clip.h"
#include "optim/schedule.h"
#include "tests/core/temporary.h"

using namespace gradzoo;

namespace {

struct Model {
  nn::Linear in, out;
  static void fields(auto& self, auto&& visit) {
    visit("in", self.in);
    visit("out", self.out);
  }
  Tensor operator()(const Tensor& x) const { return out(dropout(tanh(in(x)), 0.3)); }
};

// No decay for biases.
std::vector<optim::Adam::Group> groups(const Model& model) {
  optim::NamedTensors decayed, others;
  for (const auto& [name, tensor] : nn::named_parameters(model)) {
    (tensor.dim() > 1 ? decayed : others).emplace_back(name, tensor);
  }
  return {{decayed, {.lr = 0.05, .weight_decay = 0.1, .decoupled = true}},
          {others, {.lr = 0.02, .decoupled = true}}};
}

struct Run {
  Rng rng;
  Model model;
  optim::Adam adam;
  optim::Ema average;
  optim::ReduceOnPlateau plateau;

  explicit Run(std::uint64_t seed)
      : rng(seed),
        model{nn::Linear(3, 8, rng), nn::Linear(8, 2, rng)},
        adam(groups(model)),
        average(nn::named_parameters(model), 0.8),
        plateau({.factor = 0.5, .patience = 1}) {}

  static void fields(auto& self, auto&& visit) {
    visit("model", self.model);
    visit("adam", self.adam);
    visit("average", self.average);
    visit("plateau", self.plateau);
  }

  double step() {
    const std::int64_t step = adam.steps() + 1;
    Rng data(1000 + static_cast<std::uint64_t>(step));
    const Tensor x = randn({4, 3}, data), y = randn({4, 2}, data);
    const TrainingScope training(rng);
    const Tensor loss = mean(square(model(x) - y));
    adam.zero_grad();
    loss.backward();
    optim::clip_grad_norm(nn::named_parameters(model), 0.5);
    adam.step(optim::inverse_sqrt(step, 5) * plateau.factor());
    average.update();
    if (step % 2 == 0) plateau.update(loss.item());
    return loss.item();
  }

  void save(const std::string& path) const {
    nn::save(path, *this, {{"rng", std::to_string(rng.counter())}});
  }
  void load(const std::string& path) {
    rng.set_counter(std::stoull(nn::load(path, *this).at("rng")));
  }
};

}  // namespace

TEST_CASE("TRN2: every part of a run is in one file, and the resumed run has the same losses") {
  const test::TemporaryDirectory folder;
  Run whole(1), interrupted(1);
  std::vector<double> losses, continued;
  for (int step = 1; step <= 20; ++step) losses.push_back(whole.step());
  for (int step = 1; step <= 10; ++step) continued.push_back(interrupted.step());
  interrupted.save(folder / "run");
  Run resumed(1);
  resumed.load(folder / "run");
  for (int step = 11; step <= 20; ++step) continued.push_back(resumed.step());
  CHECK(continued == losses);
  CHECK(resumed.plateau.factor() == whole.plateau.factor());
  CHECK(whole.plateau.factor() < 1);  // it had something to remember
  const nn::NamedTensors ours = nn::named_tensors(resumed), theirs = nn::named_tensors(whole);
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(ours[i].first);
    CHECK(sum(abs(to(ours[i].second.detach(), DType::f64) -
                  to(theirs[i].second.detach(), DType::f64)))
              .item() == 0);
  }
}

TEST_CASE("TRN4: a file without the optimizer is refused, and nothing changes") {
  const test::TemporaryDirectory folder;
  Run run(1);
  run.step();
  nn::save(folder / "weights", run.model);
  const double before = run.model.in.weight.at({0, 0});
  run.step();
  const double after = run.model.in.weight.at({0, 0});
  CHECK(before != after);
  CHECK_THROWS_WITH_AS(nn::load(folder / "weights", run),
                       doctest::Contains("'adam.in.weight.mean' is missing"), Error);
  CHECK(run.model.in.weight.at({0, 0}) == after);
}
