// Lesson 10: one training step of a Transformer.
#include <chrono>
#include <cmath>

#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

namespace {

const WalkStep& update_of(const Walk& walk) {
  for (const WalkStep& step : walk.steps) {
    if (step.kind == WalkStep::Kind::update) return step;
  }
  FAIL("no update");
  return walk.steps.front();
}

}  // namespace

TEST_CASE("lesson training_step: every gradient agrees with central differences") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("10", seed);
    check_differences(walk);
    CHECK(largest_tensor(walk) <= 48);  // the packed projection of the layers
    CHECK(walk.steps.size() > 250);
    CHECK(walk.steps.size() < 400);
  }
}

TEST_CASE("lesson training_step: some 300 steps, examined in a second where nothing else runs") {
  const auto start = std::chrono::steady_clock::now();
  run_lesson(find_lesson("training_step"), 1);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  CHECK(passed.count() < 30);
}

TEST_CASE("lesson training_step: the loss is smaller after the step") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("10", seed);
    const std::vector<double> loss = column(step_titled(walk, "Did it help?").table, 1);
    CHECK(loss.at(1) < loss.at(0));
    CHECK(std::abs(walk.nodes.at(walk.graphs.at(0).output).value.item() - loss.at(0)) < 1e-4);
  }
}

TEST_CASE("lesson training_step: Adam's first step moves every number by lr against its gradient") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("10", seed);
    std::size_t moved = 0;
    for (const WalkStep::Change& change : update_of(walk).changes) {
      const std::vector<double> before = change.before.to_vector<double>(),
                                gradient = change.gradient.to_vector<double>(),
                                after = change.after.to_vector<double>();
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (gradient[i] == 0) CHECK(after[i] == before[i]);
        if (std::abs(gradient[i]) < 1e-6) continue;
        ++moved;
        CHECK(std::abs(after[i] - before[i] - (gradient[i] > 0 ? -0.005 : 0.005)) < 1e-5);
      }
    }
    CHECK(moved > 200);
  }
}

TEST_CASE("lesson training_step: the bias of the keys gets no gradient, other parts do") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("10", seed);
    std::size_t biases = 0;
    for (const WalkNode& node : walk.nodes) {
      if (!node.name.ends_with("in_proj_bias")) continue;
      ++biases;
      CHECK(max(abs(slice(node.gradient, 0, 4, 8))).item() < 1e-14);
      CHECK(max(abs(slice(node.gradient, 0, 8, 12))).item() > 1e-4);
    }
    CHECK(biases == 6);
    const WalkTable parts = step_titled(walk, "Where the gradient arrived").table;
    double parameters = 0;
    for (const double count : column(parts, 1)) parameters += count;
    double named = 0;
    for (const WalkStep::Change& change : update_of(walk).changes) {
      named += static_cast<double>(change.before.numel());
    }
    CHECK(parameters == named);
    for (const double size : column(parts, 2)) CHECK(size > 1e-3);
  }
}

TEST_CASE("lesson training_step: the layers are siblings of one structure") {
  const Walk& walk = walk_of("10", 1);
  std::size_t encoder = 0, decoder = 0, attention = 0;
  for (const WalkScope& scope : walk.scopes) {
    encoder += scope.name == "TransformerEncoderLayer";
    decoder += scope.name == "TransformerDecoderLayer";
    attention += scope.name == "MultiheadAttention";
  }
  CHECK(encoder == 2);
  CHECK(decoder == 2);
  CHECK(attention == 6);
}
