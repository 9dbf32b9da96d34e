// Lesson 9: an encoder and a decoder with attention between them.
#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using namespace gradzoo::test;

TEST_CASE("lesson seq2seq: every gradient agrees with central differences") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("9", seed);
    check_differences(walk);
    CHECK(largest_tensor(walk) <= 12);
  }
}

TEST_CASE("lesson seq2seq: the alignment is that of the walk, a row for each word written") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Walk& walk = walk_of("9", seed);
    const WalkTable table = step_titled(walk, "The alignment").table;
    CHECK(table.heads == std::vector<std::string>{"written", "le", "chat", "noir"});
    const std::vector<WalkNode> softmaxes = nodes_of(walk, 0, "softmax");
    REQUIRE(table.rows.size() == 3);
    REQUIRE(softmaxes.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      double total = 0;
      for (std::int64_t j = 0; j < 3; ++j) {
        const double shown = std::stod(table.rows[i][static_cast<std::size_t>(j) + 1]);
        CHECK(std::abs(shown - softmaxes[i].value.at({0, j})) < 6e-4);
        total += shown;
      }
      CHECK(total == doctest::Approx(1).epsilon(0.002));
    }
  }
}

TEST_CASE("lesson seq2seq: modules, and each state of the encoder is used at every step") {
  const Walk& walk = walk_of("9", 1);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) paths.push_back(walk.path(i));
  for (const char* path : {"Encoder/RNNCell", "Decoder/Step/Attention", "Decoder/Step/RNNCell"}) {
    CHECK(std::find(paths.begin(), paths.end(), path) != paths.end());
  }
  // The memory: read by the projection of the keys, by the first state of the decoder, and by
  // each of three contexts.
  const WalkNode memory = nodes_of(walk, 0, "concat").at(0);
  CHECK(memory.value.shape() == Shape{3, 2});
  CHECK(memory.uses == 5);
}
