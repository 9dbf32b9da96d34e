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
