// ALiBi: slopes and biases by hand, and what they do to attention.
#include "nn/alibi.h"

#include <doctest/doctest.h>

#include <cmath>

#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

TEST_CASE("ALiBi slopes are 2^(-8i/n) for a power of two") {
  CHECK(alibi_slopes(8).to_vector<double>() ==
        std::vector<double>{1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256});
  CHECK(alibi_slopes(1).item() == 1. / 256);
  const Tensor slopes = alibi_slopes(16);
  for (std::int64_t i = 0; i < 16; ++i) {
    CHECK(slopes.at({i}) == doctest::Approx(std::pow(2.0, -double(i + 1) / 2)).epsilon(1e-14));
  }
  CHECK_THROWS_WITH_AS(alibi_slopes(0), "alibi_slopes: there must be at least 1 head, got 0",
                       Error);
}

// get_slopes() of the authors' code (github.com/ofirpress/attention_with_linear_biases).
TEST_CASE("ALiBi slopes for other numbers of heads are those of the authors' code") {
  // 3: those of 2, then the first of 4. 6: those of 4, then the first and third of 8.
  CHECK(alibi_slopes(3).to_vector<double>() == std::vector<double>{1. / 16, 1. / 256, 1. / 4});
  CHECK(alibi_slopes(6).to_vector<double>() ==
        std::vector<double>{1. / 4, 1. / 16, 1. / 64, 1. / 256, 1. / 2, 1. / 8});
  // 12: those of 8, then the first, third, fifth and seventh of 16, whose ratio is 2^-0.5.
  const std::vector<double> twelve = alibi_slopes(12).to_vector<double>();
  for (std::size_t i = 0; i < 8; ++i) CHECK(twelve[i] == std::exp2(-double(i + 1)));
  for (std::size_t i = 0; i < 4; ++i) CHECK(twelve[8 + i] == std::exp2(-0.5 - double(i)));
}

TEST_CASE("ALiBi biases fall with the distance, on both sides") {
  const Tensor bias = alibi_biases(4, 3, 3);
  CHECK(bias.dtype() == DType::f32);
  CHECK(bias.shape() == Shape{1, 4, 3, 3});
  const std::vector<float> first{0, -.25F, -.5F, -.25F, 0, -.25F, -.5F, -.25F, 0};
  CHECK(select(bias, 1, 0).to_vector<float>() == first);
  CHECK(bias.at({0, 3, 2, 0}) == -2. / 256);
  CHECK(alibi_biases(2, 2, 2, DType::f64).dtype() == DType::f64);
}

TEST_CASE("ALiBi aligns the last query with the last key") {
  const Tensor all = alibi_biases(3, 7, 7, DType::f64);
  CHECK(alibi_biases(3, 2, 7, DType::f64).to_vector<double>() ==
        slice(all, 2, 5).to_vector<double>());
  CHECK(alibi_biases(3, 0, 7).shape() == Shape{1, 3, 0, 7});
  CHECK(alibi_biases(3, 1, 0).shape() == Shape{1, 3, 1, 0});
  CHECK_THROWS_WITH_AS(alibi_biases(3, -1, 7),
                       "alibi_biases: queries and keys must not be negative and the dtype f32 or "
                       "f64, got -1, 7 and f32",
                       Error);
  CHECK_THROWS_AS(alibi_biases(3, 1, 7, DType::i64), Error);
}

TEST_CASE("equal keys under ALiBi: each step away costs a factor of exp(slope)") {
  const Tensor q = zeros({1, 2, 4, 3}, DType::f64), v = expand(eye(4, 4, DType::f64), {1, 2, 4, 4});
  const Tensor mask = causal_mask(4) & alibi_biases(2, 4, 4, DType::f64);
  const Tensor weights = scaled_dot_product_attention(q, q, v, mask);
  for (const std::int64_t head : {0, 1}) {
    const double slope = head == 0 ? 1. / 16 : 1. / 256;
    CHECK(weights.at({0, head, 3, 2}) / weights.at({0, head, 3, 0}) ==
          doctest::Approx(std::exp(2 * slope)).epsilon(1e-12));
    CHECK(weights.at({0, head, 1, 2}) == 0);
  }
}

TEST_CASE("gradients of attention under ALiBi") {
  const Tensor mask = causal_mask(2, 4) & alibi_biases(3, 2, 4, DType::f64);
  const auto f = [&](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], mask);
  };
  const std::vector<Tensor> qkv{test::input({2, 3, 2, 2}, 1), test::input({2, 3, 4, 2}, 2),
                                test::input({2, 3, 4, 3}, 3)};
  const auto first = gradcheck(f, qkv);
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = gradgradcheck(f, qkv);
  CHECK_MESSAGE(second.ok, second.report);
}
