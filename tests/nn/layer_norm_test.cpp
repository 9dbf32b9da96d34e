// LayerNorm: its statistics. Its gradients have a row in examples/common/layers.
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
    CHECK(mean(select(y, 0, row)).item() == doctest::Approx(0).epsilon(1e-6).scale(1));
    CHECK(var(select(y, 0, row), {}, false, 0).item() == doctest::Approx(1).epsilon(1e-4));
  }
  assign(layer.weight, tensor({1, 2, 3, 4}));
  assign(layer.bias, tensor({5, 6, 7, 8}));
  const Tensor scaled = layer(x);
  CHECK(scaled.at({1, 2}) == doctest::Approx(3 * y.at({1, 2}) + 7));
}
