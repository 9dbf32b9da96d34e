// Lesson 8: the gradient of an RNN vanishes step by step, that of attention does not.
#include <fmt/core.h>

#include <cmath>

#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

TEST_CASE("lesson vanishing: every gradient agrees with central differences") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("8", seed);
    check_differences(walk);
    CHECK(largest_tensor(walk) <= 12);
  }
}

TEST_CASE("lesson vanishing: the steps of the RNN are alike, one scope each") {
  const Walk& walk = walk_of("8", 1);
  std::size_t steps = 0;
  for (const WalkScope& scope : walk.scopes) steps += scope.name == "Step";
  CHECK(steps == 6);
  CHECK(nodes_of(walk, 0, "tanh").size() == 6);
  CHECK(named_node(walk, 0, "w_h").uses == 6);
}

TEST_CASE("lesson vanishing: each state halves the RNN's gradient; attention's stays as large") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("8", seed);
    const WalkTable table = step_titled(walk, "The gradient, step by step").table;
    const std::vector<double> state = column(table, 1), token = column(table, 2),
                              attended = column(table, 3);
    REQUIRE(state.size() == 6);
    for (std::size_t t = 0; t + 1 < state.size(); ++t) CHECK(state[t] <= 0.5 * state[t + 1] + 1e-5);
    CHECK(token.front() < token.back() / 50);
    CHECK(attended.front() > attended.back() / 10);
    // The table shows the gradients of the walk itself.
    const std::vector<WalkNode> states = nodes_of(walk, 0, "tanh");
    for (std::size_t t = 0; t < 6; ++t) {
      const std::string name = fmt::format("x{}", t + 1);
      CHECK(std::abs(norm(states[t].gradient).item() - state[t]) < 1e-5);
      CHECK(std::abs(norm(named_node(walk, 0, name).gradient).item() - token[t]) < 1e-5);
      CHECK(std::abs(norm(named_node(walk, 1, name).gradient).item() - attended[t]) < 1e-5);
    }
  }
}

TEST_CASE("lesson vanishing: the longer the sequence, the less reaches its beginning in the RNN") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const WalkTable table = step_titled(walk_of("8", seed), "Longer sequences").table;
    const std::vector<double> length = column(table, 0), rnn = column(table, 1),
                              attention = column(table, 2);
    REQUIRE(length == std::vector<double>{2, 4, 8, 16, 32});
    for (std::size_t i = 1; i < length.size(); ++i) CHECK(rnn[i] < 0.3 * rnn[i - 1]);
    CHECK(rnn.back() < 1e-12);
    for (const double share : attention) {
      CHECK(share > 0.6);
      CHECK(share < 1.3);
    }
  }
}
