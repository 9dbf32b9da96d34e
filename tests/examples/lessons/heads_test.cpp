// Lesson 7: heads are views, and more of them cost nothing.
#include "core/create.h"
#include "nn/attention.h"
#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

TEST_CASE("lesson heads: every gradient agrees with central differences") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("7", seed);
    check_differences(walk);
    CHECK(largest_tensor(walk) == 48);  // in_proj_weight, which is kept as the layer has it
  }
}

TEST_CASE("lesson heads: reshape and permute move nothing, the last reshape copies") {
  const auto memory = [](const Tensor& tensor) { return tensor.impl().storage; };
  const Tensor x = ones({1, 3, 4});
  const Tensor split = nn::split_heads(x, 2);
  CHECK(split.shape() == Shape{1, 2, 3, 2});
  CHECK(memory(split) == memory(x));
  CHECK(memory(nn::merge_heads(split)) == memory(x));  // nothing was computed between
  const Tensor context = split * 2.0;
  CHECK(memory(permute(context, {0, 2, 1, 3})) == memory(context));
  CHECK(memory(nn::merge_heads(context)) != memory(context));

  const Walk& walk = walk_of("7", 1);
  const std::vector<WalkNode> permutes = nodes_of(walk, 0, "permute");
  CHECK(nodes_of(walk, 0, "reshape").size() == 2);
  REQUIRE(permutes.size() == 2);
  // Query, key and value: three uses of the heads, one of them by way of a transpose.
  CHECK(permutes[0].uses == 3);
}

TEST_CASE("lesson heads: one product makes queries, keys and values of both heads") {
  const Walk& walk = walk_of("7", 1);
  CHECK(nodes_of(walk, 1, "linear").size() == 2);  // in_proj and out_proj
  CHECK(nodes_of(walk, 1, "slice").size() == 3);
  CHECK(nodes_of(walk, 1, "softmax").size() == 1);
  CHECK(named_node(walk, 1, "in_proj_weight").value.shape() == Shape{12, 4});
  bool inside = false;
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    inside = inside || walk.path(i) == "MultiheadAttention";
  }
  CHECK(inside);
}

TEST_CASE(
    "lesson heads: two sets of weights; as many parameters and nodes for each number of heads") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("7", seed);
    const WalkTable one = step_titled(walk, "What head 1 looks at").table;
    const WalkTable two = step_titled(walk, "What head 2 looks at").table;
    CHECK(one.rows != two.rows);
    for (const WalkTable& table : {one, two}) {
      for (const std::vector<std::string>& row : table.rows) {
        CHECK(std::stod(row[1]) + std::stod(row[2]) + std::stod(row[3]) ==
              doctest::Approx(1).epsilon(0.002));
      }
    }
    const WalkTable costs = step_titled(walk, "What more heads cost").table;
    CHECK(column(costs, 0) == std::vector<double>{1, 2, 4});
    CHECK(column(costs, 1) == std::vector<double>{4, 2, 1});
    CHECK(column(costs, 2) == std::vector<double>{80, 80, 80});
    CHECK(column(costs, 3)[1] == column(costs, 3)[0]);
    CHECK(column(costs, 3)[2] == column(costs, 3)[0]);
  }
}
