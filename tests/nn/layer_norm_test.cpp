// LayerNorm: its statistics, and all gradients by finite differences.
#include "nn/layer_norm.h"

#include <doctest/doctest.h>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::LayerNorm;

TEST_CASE("LayerNorm gives rows of mean 0 and variance 1, then scales and shifts") {
  LayerNorm layer(4);
  const Tensor x = tensor({{1, 2, 3, 4}, {-5, 0, 5, 20}});
  const Tensor y = layer(x);
  for (int row = 0; row < 2; ++row) {
    CHECK(mean(select(y, 0, row)).item() == doctest::Approx(0).epsilon(1e-6));
    CHECK(var(select(y, 0, row), {}, false, 0).item() == doctest::Approx(1).epsilon(1e-4));
  }
  assign(layer.weight, tensor({1, 2, 3, 4}));
  assign(layer.bias, tensor({5, 6, 7, 8}));
  const Tensor scaled = layer(x);
  CHECK(scaled.at({1, 2}) == doctest::Approx(3 * y.at({1, 2}) + 7));
}

TEST_CASE("gradients of LayerNorm") {
  LayerNorm made(5);
  Rng rng(1);
  assign(made.weight, rand({5}, rng) + 0.5);
  assign(made.bias, randn({5}, rng));
  const LayerNorm layer = nn::to(made, DType::f64);
  const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
  const auto first = nn::gradcheck(layer, f, {test::input({2, 3, 5}, 2)});
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = nn::gradgradcheck(layer, f, {test::input({2, 3, 5}, 3)});
  CHECK_MESSAGE(second.ok, second.report);
}
