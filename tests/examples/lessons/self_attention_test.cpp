// Lesson 6: what it says about softmax, the causal mask and sqrt(d).
#include <cmath>

#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

namespace {

// What softmax turned into weights: the last node before it.
WalkNode scores_of(const Walk& walk, std::size_t graph) {
  return walk.nodes.at(nodes_of(walk, graph, "softmax").at(0).inputs.at(0));
}

constexpr std::uint64_t kSeeds[] = {1, 2, 3};

}  // namespace

TEST_CASE("lesson self_attention: every gradient agrees with central differences") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    const Walk& walk = walk_of("6", seed);
    check_differences(walk);
    CHECK(largest_tensor(walk) <= 16);
  }
}

TEST_CASE(
    "lesson self_attention: weights add up to 1, gradients of scores to 0, x is used thrice") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    const Walk& walk = walk_of("6", seed);
    for (const std::size_t graph : {0, 1}) {
      const Tensor weights = nodes_of(walk, graph, "softmax").at(0).value;
      CHECK(max(abs(sum(weights, {1}) - 1.0)).item() < 1e-15);
      CHECK(max(abs(sum(scores_of(walk, graph).gradient, {1}))).item() < 1e-15);
      CHECK(norm(scores_of(walk, graph).gradient).item() > 1e-3);
      CHECK(named_node(walk, graph, "x").uses == 3);
    }
  }
}

TEST_CASE("lesson self_attention: the mask hides the future, forward and backward") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    const Walk& walk = walk_of("6", seed);
    const Tensor weights = nodes_of(walk, 1, "softmax").at(0).value;
    const WalkNode masked = scores_of(walk, 1);
    CHECK(masked.op.name == std::string("masked_fill"));
    const Tensor gradient = walk.nodes.at(masked.inputs.at(0)).gradient;
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) {
        CAPTURE(i);
        CAPTURE(j);
        CHECK((weights.at({i, j}) == 0) == (j > i));
        if (j > i || i == 0) CHECK(gradient.at({i, j}) == 0);
      }
    }
    CHECK(weights.at({0, 0}) == 1);
    CHECK(norm(gradient).item() > 1e-3);
  }
}

TEST_CASE(
    "lesson self_attention: without sqrt(d) scores spread, the softmax hardens, gradients go") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    const WalkStep step = step_titled(walk_of("6", seed), "Why divide by sqrt(d)?");
    const std::vector<double> d = column(step.table, 0);
    REQUIRE(d == std::vector<double>{1, 4, 16, 64, 256});
    const std::vector<double> variance = column(step.table, 1),
                              scaled_variance = column(step.table, 2);
    const std::vector<double> entropy = column(step.table, 3),
                              scaled_entropy = column(step.table, 4);
    const std::vector<double> gradient = column(step.table, 5),
                              scaled_gradient = column(step.table, 6);
    for (std::size_t i = 0; i < d.size(); ++i) {
      CAPTURE(d[i]);
      CHECK(std::abs(variance[i] / d[i] - 1) < 0.2);
      CHECK(std::abs(scaled_variance[i] - 1) < 0.2);
      CHECK(entropy[i] <= std::log(4));
      CHECK(scaled_entropy[i] > 1);
      CHECK(scaled_gradient[i] > 0.9 * scaled_gradient[0]);
      if (i == 0) continue;
      CHECK(entropy[i] < 0.8 * entropy[i - 1]);
      CHECK(gradient[i] < 0.85 * gradient[i - 1]);
    }
    CHECK(entropy.back() < 0.15);
    CHECK(gradient.back() < 0.2 * scaled_gradient.back());
    // The text's last sentences: the share of draws with less than 1 % left.
    const std::string left = step.text.substr(step.text.find("is left in ") + 11);
    CHECK(std::stod(left) > 70);
    CHECK(step.text.ends_with("With the division: in 0 %."));
  }
}
