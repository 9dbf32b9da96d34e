// Masks: true = may attend.
#include "nn/mask.h"

#include <doctest/doctest.h>

#include "core/ops.h"

using namespace gradzoo;

TEST_CASE("padding_mask is true at real tokens") {
  const Tensor mask = nn::padding_mask(tensor({2, 0, 3}, DType::i64), 3);
  CHECK(mask.dtype() == DType::boolean);
  CHECK(mask.to_vector<bool>() == std::vector<bool>{1, 1, 0, 0, 0, 0, 1, 1, 1});
  CHECK_THROWS_WITH_AS(nn::padding_mask(tensor({4}, DType::i64), 3),
                       "padding_mask: length 4 is not in [0, 3]", Error);
}

TEST_CASE("causal_mask: no token sees a later one; KVC7: the last query meets the last key") {
  CHECK(nn::causal_mask(3).to_vector<bool>() == std::vector<bool>{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(nn::causal_mask(2, 4).to_vector<bool>() == std::vector<bool>{1, 1, 1, 0, 1, 1, 1, 1});
  CHECK(nn::causal_mask(1, 4).to_vector<bool>() == std::vector<bool>{1, 1, 1, 1});
}

TEST_CASE("window_mask: w neighbours on each side, all of them from n - 1 on") {
  CHECK(nn::window_mask(4, 1).to_vector<bool>() ==
        std::vector<bool>{1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1});
  CHECK(nn::window_mask(3, 0).to_vector<bool>() == std::vector<bool>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(nn::window_mask(4, 2).to_vector<bool>() ==
        std::vector<bool>{1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1});
  for (const std::int64_t w : {std::int64_t{3}, std::int64_t{4}, INT64_MAX}) {
    CHECK(nn::window_mask(4, w).to_vector<bool>() == std::vector<bool>(16, true));
  }
  CHECK(nn::window_mask(0, 1).shape() == Shape{0, 0});
  CHECK(nn::window_mask(1, 0).to_vector<bool>() == std::vector<bool>{1});
  // With the causal mask: itself and the one before.
  CHECK(logical_and(nn::window_mask(3, 1), nn::causal_mask(3)).to_vector<bool>() ==
        std::vector<bool>{1, 0, 0, 1, 1, 0, 0, 1, 1});
  CHECK_THROWS_WITH_AS(nn::window_mask(3, -1),
                       "window_mask: w, the neighbours on each side, must not be negative, got -1",
                       Error);
}

TEST_CASE("check_mask names the axes of heads too") {
  const Tensor scores = ones({2, 8, 3, 4});
  nn::check_mask("op", full({2, 1, 1, 4}, 1, DType::boolean), scores);
  nn::check_mask("op", full({3, 4}, 1, DType::boolean), scores);
  nn::check_mask("op", full({}, 1, DType::boolean), scores);
  CHECK_THROWS_WITH_AS(nn::check_mask("op", full({2, 3, 4}, 1, DType::boolean), scores),
                       "op: the mask does not fit the scores, got mask [heads, queries, keys] "
                       "[2, 3, 4] and scores [batch, heads, queries, keys] [2, 8, 3, 4]",
                       Error);
}
