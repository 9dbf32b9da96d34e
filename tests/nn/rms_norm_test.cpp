// RmsNorm: its scale by hand, and all gradients by finite differences.
#include "nn/rms_norm.h"

#include <doctest/doctest.h>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::RmsNorm;

TEST_CASE("RmsNorm gives rows of mean square 1 and leaves their mean, then scales") {
  RmsNorm layer(2);
  CHECK(nn::parameter_count(layer) == 2);
  // The mean square of (1, 7) is 25.
  const Tensor x = tensor({{1, 7}, {-7, 1}, {0, 0}});
  CHECK(test::max_difference(layer(x), tensor({{0.2, 1.4}, {-1.4, 0.2}, {0, 0}})) < 1e-6);
  assign(layer.weight, tensor({10, -5}));
  CHECK(test::max_difference(layer(x), tensor({{2, -7}, {-14, -1}, {0, 0}})) < 1e-5);
  layer.eps = 11;  // inside the root: 25 + 11 = 36
  CHECK(layer(x).at({0, 0}) == doctest::Approx(10.0 / 6));
  CHECK_THROWS_WITH_AS(RmsNorm(0), "RmsNorm: dim must be at least 1, got 0", Error);
}

TEST_CASE("gradients of RmsNorm") {
  Rng rng(1);
  for (const std::int64_t dim : {2, 5, 8, 17}) {
    CAPTURE(dim);
    RmsNorm made(dim);
    assign(made.weight, rand({dim}, rng) + 0.5);
    const RmsNorm layer = nn::to(made, DType::f64);
    const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
    const auto first = nn::gradcheck(layer, f, {test::input({2, 3, dim}, 2)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = nn::gradgradcheck(layer, f, {test::input({2, 3, dim}, 3)});
    CHECK_MESSAGE(second.ok, second.report);
  }
}
