// Linear: values by hand, all gradients by finite differences.
#include "nn/linear.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::Linear;

TEST_CASE("Linear is x W^T + b") {
  Rng rng(1);
  Linear layer(2, 3, rng);
  assign(layer.weight, tensor({{1, 2}, {3, 4}, {5, 6}}));
  assign(layer.bias, tensor({10, 20, 30}));
  const Tensor y = layer(tensor({{1, -1}, {0, 2}}));
  CHECK(y.shape() == Shape{2, 3});
  CHECK(y.to_vector<float>() == std::vector<float>{9, 19, 29, 14, 28, 42});
}

TEST_CASE("Linear starts uniform in ±1/sqrt(in), and can do without a bias") {
  Rng rng(2);
  const Linear layer(100, 50, rng);
  CHECK(max(abs(layer.weight)).item() <= 0.1);
  CHECK(max(abs(layer.weight)).item() > 0.099);
  CHECK(max(abs(layer.bias)).item() <= 0.1);
  const Linear plain(4, 5, rng, {.bias = false});
  CHECK_FALSE(plain.bias.defined());
  CHECK(nn::parameter_count(plain) == 20);
  CHECK(plain(ones({7, 4})).shape() == Shape{7, 5});
}

TEST_CASE("gradients of Linear") {
  Rng rng(3);
  for (const bool bias : {true, false}) {
    const Linear layer = nn::to(Linear(3, 4, rng, {.bias = bias}), DType::f64);
    const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
    for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{2, 5, 3}, Shape{0, 3}}) {
      const auto first = nn::gradcheck(layer, f, {test::input(shape, 4)});
      CHECK_MESSAGE(first.ok, first.report);
      const auto second = nn::gradgradcheck(layer, f, {test::input(shape, 5)});
      CHECK_MESSAGE(second.ok, second.report);
    }
  }
}

TEST_CASE("Linear refuses widths below 1") {
  Rng rng(4);
  CHECK_THROWS_WITH_AS(Linear(0, 3, rng),
                       "Linear: the widths must be at least 1, got in 0 and out 3", Error);
}
