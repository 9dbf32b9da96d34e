// Lesson 5: what it claims of layer normalisation.
#include <cmath>

#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

TEST_CASE("lesson layer_norm: rows of any scale come out with mean 0 and variance 1") {
  const Walk walk = walk_of("layer_norm", 1);
  const WalkTable table = step_titled(walk, "What it did").table;
  REQUIRE(table.rows.size() == 2);
  const double means[] = {3, 35}, variances[] = {2.5, 250};
  for (std::size_t row = 0; row < 2; ++row) {
    CAPTURE(row);
    CHECK(column(table, 1)[row] == means[row]);
    CHECK(column(table, 2)[row] == variances[row]);
    CHECK(std::abs(column(table, 3)[row]) < 1e-12);
    CHECK(column(table, 4)[row] ==
          doctest::Approx(variances[row] / (variances[row] + 1e-5)).epsilon(1e-6));
  }
}

TEST_CASE("lesson layer_norm: the gradient is orthogonal to ones and to the normalised row") {
  const Walk walk = walk_of("layer_norm", 1);
  REQUIRE(walk.graphs.size() == 2);
  for (std::size_t graph = 0; graph < 2; ++graph) {
    const Tensor x = named_node(walk, graph, "x").value;
    const Tensor dx = named_node(walk, graph, "x").gradient;
    REQUIRE(dx.defined());
    for (std::int64_t row = 0; row < 2; ++row) {
      CAPTURE(row);
      const double mean = row == 0 ? 3 : 35, deviation = std::sqrt(row == 0 ? 2.5 : 250);
      double along_ones = 0, along_row = 0, squares = 0;
      for (std::int64_t i = 0; i < 4; ++i) {
        const double g = dx.at({row, i});
        along_ones += g;
        along_row += g * (x.at({row, i}) - mean) / deviation;
        squares += g * g;
      }
      CHECK(std::abs(along_ones) < 1e-12 * std::sqrt(squares));
      CHECK(std::abs(along_row) < 2e-5 * std::sqrt(squares));
      CHECK(std::abs(along_row) > 0);  // eps notices
    }
    // A row ten times as large gets a tenth of the gradient.
    for (std::int64_t i = 0; i < 4; ++i) {
      CHECK(dx.at({0, i}) == doctest::Approx(10 * dx.at({1, i})).epsilon(1e-4));
    }
  }
  check_differences(walk);
}

TEST_CASE("lesson layer_norm: both ways give the same loss and gradients") {
  const Walk walk = walk_of("layer_norm", 1);
  REQUIRE(walk.graphs.size() == 2);
  const auto loss = [&](std::size_t graph) {
    return walk.nodes[walk.graphs[graph].output].value.item();
  };
  CHECK(loss(0) == doctest::Approx(loss(1)).epsilon(1e-12));
  for (const char* name : {"x", "weight", "bias"}) {
    CAPTURE(name);
    const Tensor difference =
        named_node(walk, 0, name).gradient - named_node(walk, 1, name).gradient;
    CHECK(max(abs(difference)).item() < 1e-12);
  }
  CHECK(nodes_of(walk, 1, "layer_norm").size() == 1);
  CHECK(nodes_of(walk, 1, "sqrt").empty());
}

TEST_CASE("lesson layer_norm: adding to a row or stretching it leaves the loss alone") {
  const Walk walk = walk_of("layer_norm", 1);
  const WalkTable table = step_titled(walk, "Try it").table;
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0][1] == table.rows[1][1]);
  CHECK(column(table, 1)[2] == doctest::Approx(column(table, 1)[0]).epsilon(1e-5));
}
