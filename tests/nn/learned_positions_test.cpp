// Learned positions: the row of each place, its gradient, and the limits.
#include "nn/learned_positions.h"

#include <doctest/doctest.h>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::LearnedPositions;

namespace {

LearnedPositions positions_f64(std::int64_t max_length, std::int64_t d_model) {
  Rng rng(1);
  return nn::to(LearnedPositions(max_length, d_model, rng), DType::f64);
}

}  // namespace

TEST_CASE("LearnedPositions adds row p of its table to the token at place p") {
  Rng rng(1);
  LearnedPositions positions(4, 2, rng);
  assign(positions.weight, tensor({{1, 2}, {3, 4}, {5, 6}, {7, 8}}));
  const Tensor x = tensor({{{10, 20}, {30, 40}}, {{0, 0}, {1, 1}}});
  CHECK(positions(x).to_vector<float>() == std::vector<float>{11, 22, 33, 44, 1, 2, 4, 5});
  CHECK(positions(x, 2).to_vector<float>() == std::vector<float>{15, 26, 37, 48, 5, 6, 8, 9});
  CHECK(nn::named_parameters(positions).front().first == "weight");
}

TEST_CASE("LearnedPositions starts normal with standard deviation 0.02") {
  Rng rng(2);
  const LearnedPositions positions(200, 100, rng);
  CHECK(gradzoo::std(positions.weight).item() == doctest::Approx(0.02).epsilon(0.03).scale(0));
  CHECK(positions.weight.requires_grad());
}

TEST_CASE("gradients of LearnedPositions: rows that were not used get zeros") {
  const LearnedPositions positions = positions_f64(7, 3);
  for (const std::int64_t first : {0, 2}) {
    const auto f = [&](const std::vector<Tensor>& in) { return square(positions(in[0], first)); };
    for (const Shape& shape : {Shape{5, 3}, Shape{2, 5, 3}, Shape{2, 1, 3}, Shape{2, 0, 3}}) {
      const auto once = nn::gradcheck(positions, f, {test::input(shape, 3)});
      CHECK_MESSAGE(once.ok, once.report);
      const auto twice = nn::gradgradcheck(positions, f, {test::input(shape, 4)});
      CHECK_MESSAGE(twice.ok, twice.report);
    }
  }
  sum(positions(test::input({4, 2, 3}, 5), 3)).backward();
  const Tensor used = sum(positions.weight.grad(), {1});
  CHECK(used.to_vector<double>() == std::vector<double>{0, 0, 0, 12, 12, 0, 0});
}

TEST_CASE("POS4, POS5: LearnedPositions uses its last row, and names both lengths beyond it") {
  const LearnedPositions positions = positions_f64(10, 6);
  CHECK_NOTHROW(positions(ones({2, 10, 6}, DType::f64)));
  CHECK_NOTHROW(positions(ones({2, 1, 6}, DType::f64), 9));
  CHECK_THROWS_WITH_AS(positions(ones({2, 11, 6}, DType::f64)),
                       "positions: the sequence has 11 tokens, the model was made for at most 10",
                       Error);
  CHECK_THROWS_AS(positions(ones({2, 1, 6}, DType::f64), 10), Error);
}

TEST_CASE("LearnedPositions refuses another width, a negative place and sizes below 1") {
  const LearnedPositions positions = positions_f64(10, 6);
  CHECK_THROWS_WITH_AS(positions(ones({2, 3, 1}, DType::f64)),
                       "positions: x must be [..., time, 6] and first not negative, got [2, 3, 1] "
                       "and 0",
                       Error);
  CHECK_THROWS_AS(positions(ones({2, 3, 6}, DType::f64), -1), Error);
  Rng rng(1);
  CHECK_THROWS_WITH_AS(
      LearnedPositions(0, 6, rng),
      "LearnedPositions: the sizes must be at least 1, got max_length 0 and d_model 6", Error);
}
