// Rotary positions: against complex numbers, their laws, and gradients by finite differences.
#include "nn/rotary.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>

#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::RotaryPositions;

TEST_CASE("rotary positions multiply the pair (x_i, x_{i + d/2}) by a complex number") {
  for (const std::int64_t d : {2, 6, 16, 34}) {
    for (const std::int64_t first : {0, 5}) {
      const RotaryPositions rotary(9, d);
      const Tensor x = test::input({2, 3, 4, d}, 1);
      const Tensor y = rotary(x, first);
      CHECK(y.shape() == x.shape());
      double worst = 0;
      for (std::int64_t h = 0; h < 3; ++h) {
        for (std::int64_t t = 0; t < 4; ++t) {
          for (std::int64_t i = 0; i < d / 2; ++i) {
            const double angle = static_cast<double>(first + t) /
                                 std::pow(10000.0, 2.0 * static_cast<double>(i) / double(d));
            const std::complex<double> pair(x.at({1, h, t, i}), x.at({1, h, t, i + d / 2}));
            const std::complex<double> want = pair * std::polar(1.0, angle);
            const std::complex<double> got(y.at({1, h, t, i}), y.at({1, h, t, i + d / 2}));
            worst = std::max(worst, std::abs(want - got));
          }
        }
      }
      CHECK(worst < 1e-13);
    }
  }
}

TEST_CASE("rotary positions: place 0 changes nothing, and no place changes a length") {
  const RotaryPositions rotary(50, 8);
  const Tensor x = test::input({1, 2, 50, 8}, 1);
  const Tensor y = rotary(x);
  CHECK(test::max_difference(slice(y, 2, 0, 1), slice(x, 2, 0, 1)) == 0);
  CHECK(test::max_difference(norm(y, {-1}), norm(x, {-1})) < 1e-13);
}

TEST_CASE("rotary scores depend on the distance only") {
  const RotaryPositions rotary(300, 8);
  const Tensor q = test::input({2, 3, 4, 8}, 1), k = test::input({2, 3, 6, 8}, 2);
  const auto scores = [&](std::int64_t first) {
    return matmul(rotary(q, first + 2), transpose(rotary(k, first)));
  };
  CHECK(test::max_difference(scores(0), scores(1)) < 1e-12);
  CHECK(test::max_difference(scores(0), scores(290)) < 1e-12);
  // … and they do depend on it.
  const Tensor elsewhere = matmul(rotary(q, 3), transpose(rotary(k, 0)));
  CHECK(test::max_difference(scores(0), elsewhere) > 1e-2);
}

TEST_CASE("rotary positions with another base, and in f32") {
  const RotaryPositions rotary(4, 4, 100);
  const Tensor y = rotary(tensor({{{0, 1, 0, 0}}}), 3);  // pair 1, angle 3 * 100^(-2/4)
  CHECK(y.dtype() == DType::f32);
  CHECK(y.at({0, 0, 1}) == doctest::Approx(std::cos(0.3)));
  CHECK(y.at({0, 0, 3}) == doctest::Approx(std::sin(0.3)));
  CHECK(y.at({0, 0, 0}) == 0);
}

TEST_CASE("gradients of rotary positions") {
  const RotaryPositions rotary(9, 4);
  const auto f = [&](const std::vector<Tensor>& in) { return square(rotary(in[0], 3)); };
  for (const Shape& shape :
       {Shape{2, 2, 3, 4}, Shape{1, 1, 1, 4}, Shape{5, 4}, Shape{2, 2, 0, 4}}) {
    const auto first = gradcheck(f, {test::input(shape, 1)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = gradgradcheck(f, {test::input(shape, 2)});
    CHECK_MESSAGE(second.ok, second.report);
  }
  const auto attention = [&](const std::vector<Tensor>& in) {
    return nn::scaled_dot_product_attention(rotary(in[0], 2), rotary(in[1]), in[2],
                                            nn::causal_mask(3, 5));
  };
  const std::vector<Tensor> qkv{test::input({2, 1, 3, 4}, 3), test::input({2, 1, 5, 4}, 4),
                                test::input({2, 1, 5, 3}, 5)};
  const auto first = gradcheck(attention, qkv);
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = gradgradcheck(attention, qkv);
  CHECK_MESSAGE(second.ok, second.report);
}

TEST_CASE("rotary positions refuse an odd width, another width and a sequence too long") {
  CHECK_THROWS_WITH_AS(
      RotaryPositions(10, 5),
      "RotaryPositions: the width of a head is turned in pairs and must be even, got 5", Error);
  CHECK_THROWS_AS(RotaryPositions(10, 0), Error);
  CHECK_THROWS_WITH_AS(RotaryPositions(0, 4),
                       "RotaryPositions: max_length must be at least 1 and base positive, got 0 "
                       "and 10000",
                       Error);
  const RotaryPositions rotary(10, 6);
  CHECK_THROWS_WITH_AS(rotary(ones({1, 2, 4, 6}), 7),
                       "positions: the sequence has 11 tokens, the model was made for at most 10",
                       Error);
  CHECK_THROWS_WITH_AS(
      rotary(ones({1, 2, 4, 8})),
      "positions: x must be [..., time, 6] and first not negative, got [1, 2, 4, 8] and 0", Error);
  CHECK_THROWS_AS(rotary(ones({1, 2, 4, 6}), -1), Error);
}
