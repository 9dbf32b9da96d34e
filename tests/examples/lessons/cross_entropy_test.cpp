// Lesson 4: what it claims of softmax and cross-entropy.
#include <fmt/core.h>

#include <cmath>

#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

TEST_CASE("lesson cross_entropy: both ways give y - t, and every difference is right") {
  const Walk walk = walk_of("cross_entropy", 1);
  REQUIRE(walk.graphs.size() == 2);
  const double e[] = {std::exp(2.0), std::exp(1.0), std::exp(-1.0)};
  const double total = e[0] + e[1] + e[2];
  const double expected[] = {e[0] / total, e[1] / total - 1, e[2] / total};
  for (std::size_t graph = 0; graph < 2; ++graph) {
    const WalkNode z = named_node(walk, graph, "z");
    REQUIRE(z.gradient.defined());
    for (std::int64_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      CHECK(z.gradient.at({i}) == doctest::Approx(expected[i]).epsilon(1e-12));
    }
    CHECK(walk.nodes[walk.graphs[graph].output].value.item() ==
          doctest::Approx(-std::log(e[1] / total)));
    CHECK(z.differences.size() == 3);
  }
  for (const char* op : {"softmax", "select", "log", "neg"}) {
    CAPTURE(op);
    CHECK(nodes_of(walk, 0, op).size() == 1);
    CHECK(nodes_of(walk, 1, op).empty());
  }
  CHECK(nodes_of(walk, 1, "cross_entropy").size() == 1);
  check_differences(walk);
}

TEST_CASE("lesson cross_entropy: its table shows y, t, y - t and both gradients") {
  const Walk walk = walk_of("cross_entropy", 1);
  const WalkTable table = step_titled(walk, "The gradient is y - t").table;
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0] ==
        std::vector<std::string>{"cat", "2.0", "0.7054", "0", "0.7054", "0.7054", "0.7054"});
  CHECK(table.rows[1] ==
        std::vector<std::string>{"dog", "1.0", "0.2595", "1", "-0.7405", "-0.7405", "-0.7405"});
  CHECK(table.rows[2] ==
        std::vector<std::string>{"fish", "-1.0", "0.0351", "0", "0.0351", "0.0351", "0.0351"});
}

TEST_CASE("lesson cross_entropy: a step along t - y lowers the loss") {
  const Walk walk = walk_of("cross_entropy", 1);
  const WalkStep step = step_titled(walk, "One step downhill");
  REQUIRE(step.changes.size() == 1);
  const WalkStep::Change& z = step.changes[0];
  CHECK(z.after.at({1}) == doctest::Approx(1 - z.gradient.at({1})));
  const auto loss = [](const Tensor& of) { return -log_softmax(of).at({1}); };
  CHECK(loss(z.before) == doctest::Approx(1.3490).epsilon(1e-4));
  CHECK(loss(z.after) < 0.7);
  CHECK(step.text.find(fmt::format("from {:.4f} to {:.4f}", loss(z.before), loss(z.after))) !=
        std::string::npos);
}

TEST_CASE("lesson cross_entropy: with large scores only the one op stays right") {
  const Walk walk = walk_of("cross_entropy", 1);
  const WalkTable table = step_titled(walk, "Why it is one op").table;
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0][2] == "100");
  CHECK(table.rows[1][2] == "100");
  CHECK(table.rows[2][2] == "inf");
  CHECK(table.rows[2][3] == "[0, 0, 0]");
  CHECK(table.rows[3][2] == "1000");
  CHECK(table.rows[3][3] == "[1, -1, 0]");
}
