// Embedding: rows by id, repeated ids, the padding row.
#include "nn/embedding.h"

#include <doctest/doctest.h>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::Embedding;

TEST_CASE("Embedding looks up rows") {
  Rng rng(1);
  const Embedding layer(5, 3, rng);
  const Tensor y = layer(tensor({{4, 0}, {4, 2}}, DType::i64));
  CHECK(y.shape() == Shape{2, 2, 3});
  for (int j = 0; j < 3; ++j) {
    CHECK(y.at({0, 0, j}) == layer.weight.at({4, j}));
    CHECK(y.at({1, 1, j}) == layer.weight.at({2, j}));
  }
}

TEST_CASE("IDX2: the padding row starts at 0 and gets no gradient; repeated ids add up") {
  Rng rng(2);
  const Embedding layer(5, 3, rng, {.padding_idx = 0});
  CHECK(layer.weight.at({0, 1}) == 0);
  CHECK(layer.weight.at({1, 1}) != 0);
  sum(layer(tensor({0, 1, 1, 2}, DType::i64))).backward();
  CHECK(layer.weight.grad().to_vector<float>() ==
        std::vector<float>{0, 0, 0, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("Embedding refuses ids it has no row for, and a padding_idx outside") {
  Rng rng(4);
  CHECK_THROWS_AS(Embedding(5, 3, rng)(tensor({5}, DType::i64)), Error);
  CHECK_THROWS_WITH_AS(Embedding(5, 3, rng, {.padding_idx = 5}),
                       "Embedding: padding_idx 5 is not below num 5", Error);
}
