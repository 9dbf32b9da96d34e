// Self-attention: by hand, and beside MultiheadAttention with one head.
#include "nn/self_attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

SelfAttention layer_f64(std::int64_t width, std::int64_t d) {
  Rng rng(7);
  return nn::to(SelfAttention(width, d, rng), DType::f64);
}

}  // namespace

TEST_CASE("SelfAttention on two tokens, worked out by hand") {
  SelfAttention layer = layer_f64(2, 1);
  // One number per head: q = log 3 * x_0, k = x_1, v = 4 x_0 + 8 x_1 + 1.
  assign(layer.q_proj.weight, tensor({{std::log(3.0), 0}}, DType::f64));
  assign(layer.k_proj.weight, tensor({{0, 1}}, DType::f64));
  assign(layer.v_proj.weight, tensor({{4, 8}}, DType::f64));
  assign(layer.q_proj.bias, tensor({0}, DType::f64));
  assign(layer.k_proj.bias, tensor({0}, DType::f64));
  assign(layer.v_proj.bias, tensor({1}, DType::f64));
  // Tokens (1, 0) and (0, 1): q = log 3, 0; k = 0, 1; v = 5, 9; sqrt(d) = 1.
  // Scores: token 1: 0, log 3, so weights 1/4, 3/4 and output 1.25 + 6.75 = 8; token 2: 0, 0, so
  // 1/2, 1/2 and output 7.
  const Attended got = layer(tensor({{{1, 0}, {0, 1}}}, DType::f64));
  const std::vector<double> weights{0.25, 0.75, 0.5, 0.5}, output{8, 7};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(got.weights.to_vector<double>()[i] == doctest::Approx(weights[i]).epsilon(1e-12));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(got.context.to_vector<double>()[i] == doctest::Approx(output[i]).epsilon(1e-12));
  }
}

TEST_CASE("SelfAttention and an output projection are MultiheadAttention with one head") {
  const SelfAttention layer = layer_f64(4, 4);
  Rng rng(8);
  const auto heads = nn::to(MultiheadAttention(4, 1, rng), DType::f64);
  assign(heads.in_proj_weight,
         concat({layer.q_proj.weight, layer.k_proj.weight, layer.v_proj.weight}, 0).detach());
  assign(heads.in_proj_bias,
         concat({layer.q_proj.bias, layer.k_proj.bias, layer.v_proj.bias}, 0).detach());
  const Tensor x = test::input({2, 5, 4}, 1);
  for (const Tensor& mask : {Tensor(), causal_mask(5), window_mask(5, 1)}) {
    CHECK(test::max_difference(heads.out_proj(layer(x, mask).context), heads(x, x, x, mask)) <
          1e-12);
  }
}

TEST_CASE("MSK1: a token of SelfAttention that sees nothing gives zeros, every gradient finite") {
  const SelfAttention layer = layer_f64(1, 1);
  const Tensor x = test::input({2, 4, 1}, 1);
  // Item 1 is padded after two places, and its row 3 may only look at padding.
  const Tensor mask = logical_and(
      tensor({{{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}}}, DType::boolean),
      padding_mask(tensor({4, 2}, DType::i64), 4));
  const Attended got = layer(x, mask);
  for (int i = 0; i < 4; ++i) CHECK(got.weights.at({1, 3, i}) == 0);
  CHECK(got.context.at({1, 3, 0}) == 0);
  sum(got.context).backward();
  for (const Tensor& parameter : nn::parameters(layer)) {
    for (const double g : parameter.grad().to_vector<double>()) CHECK(std::isfinite(g));
  }
  CHECK(x.grad().at({1, 3, 0}) == 0);  // it asks nobody, and nobody asks it
}

TEST_CASE("SelfAttention of no tokens, and what it refuses") {
  const SelfAttention layer = layer_f64(3, 2);
  CHECK(layer(test::input({2, 0, 3}, 1)).context.shape() == Shape{2, 0, 2});
  CHECK(layer(test::input({0, 4, 3}, 1)).weights.shape() == Shape{0, 4, 4});
  CHECK_THROWS_WITH_AS(layer(test::input({4, 3}, 1)),
                       "SelfAttention: x must be [batch, time, width], got [4, 3]", Error);
  CHECK_THROWS_WITH_AS(layer(test::input({2, 4, 3}, 1), causal_mask(5)),
                       "attention: the mask does not fit the scores, got mask [queries, keys] "
                       "[5, 5] and scores [batch, queries, keys] [2, 4, 4]",
                       Error);
}
