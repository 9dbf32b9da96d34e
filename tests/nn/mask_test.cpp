// Masks: boolean ones, float ones, both together, and the softmax under them.
#include "nn/mask.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::attention_weights;
using nn::combine_masks;

namespace {

constexpr double kNever = -INFINITY;

}  // namespace

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

TEST_CASE("combine_masks: boolean ones by and, float ones by adding, one of each by selecting") {
  const Tensor may = tensor({{1, 0}}, DType::boolean), column = tensor({{1}, {0}}, DType::boolean);
  const Tensor bias = tensor({{1, 2}, {3, kNever}});
  CHECK(combine_masks(may, column).to_vector<bool>() == std::vector<bool>{1, 0, 0, 0});
  CHECK(combine_masks(bias, tensor({10, 20})).to_vector<float>() ==
        std::vector<float>{11, 22, 13, -INFINITY});
  const std::vector<float> selected{1, -INFINITY, 3, -INFINITY};
  CHECK(combine_masks(may, bias).to_vector<float>() == selected);
  CHECK(combine_masks(bias, may).to_vector<float>() == selected);
  CHECK(combine_masks(tensor({5}), column).shape() == Shape{2, 1});
  CHECK(combine_masks(to(bias, DType::f64), may).dtype() == DType::f64);
  CHECK(combine_masks({}, bias).to_vector<float>() == bias.to_vector<float>());
  CHECK(combine_masks(may, {}).to_vector<bool>() == may.to_vector<bool>());
  CHECK_FALSE(combine_masks({}, {}).defined());
}

TEST_CASE("attention_weights adds a float mask to the scores") {
  const Tensor scores = test::input({2, 3, 4}, 1), bias = test::input({3, 4}, 2);
  CHECK(test::max_difference(attention_weights(scores, bias), softmax(scores + bias)) == 0);
  CHECK(test::max_difference(attention_weights(scores, {}), softmax(scores)) == 0);
  const Tensor may = tensor({1, 0, 1, 1}, DType::boolean);
  const Tensor both = attention_weights(scores, combine_masks(may, bias));
  CHECK(test::max_difference(both, softmax(scores + bias, may)) == 0);
}

TEST_CASE("MSK1, MSK7: -inf in a float mask hides whatever the score is; all hidden gives zeros") {
  const Tensor scores =
      tensor({{NAN, 1, 2}, {1, INFINITY, 3}, {1, NAN, 3}}, DType::f64).requires_grad_();
  const Tensor bias = tensor({{kNever, 0, 0}, {0, kNever, 0}, {kNever, kNever, kNever}}, DType::f64)
                          .requires_grad_();
  const Tensor weights = attention_weights(scores, bias);
  const double low = 1 / (1 + std::exp(1)), high = 1 / (1 + std::exp(-1));
  CHECK(weights.at({0, 0}) == 0);
  CHECK(weights.at({0, 2}) == doctest::Approx(high));
  CHECK(weights.at({1, 0}) == doctest::Approx(1 / (1 + std::exp(2))));
  CHECK(sum(abs(select(weights, 0, 2))).item() == 0);
  sum(weights * tensor({{5, 1, 3}, {1, 7, 2}, {1, 2, 3}}, DType::f64)).backward();
  for (const Tensor& gradient : {scores.grad(), bias.grad()}) {
    CHECK(gradient.at({0, 0}) == 0);
    CHECK(gradient.at({0, 2}) == doctest::Approx(2 * high * low));
    CHECK(gradient.at({1, 1}) == 0);
    CHECK(sum(abs(select(gradient, 0, 2))).item() == 0);
  }
}

TEST_CASE("gradients under a float mask: of the scores and of the mask") {
  const auto both = [](const auto& f, const std::vector<Tensor>& in) {
    const auto first = gradcheck(f, in);
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = gradgradcheck(f, in);
    CHECK_MESSAGE(second.ok, second.report);
  };
  const Tensor may = tensor({{1, 0, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}}, DType::boolean);
  const auto plain = [](const std::vector<Tensor>& in) { return attention_weights(in[0], in[1]); };
  const auto combined = [&](const std::vector<Tensor>& in) {
    return attention_weights(in[0], combine_masks(may, in[1]));
  };
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{3, 4}, Shape{3, 1}, Shape{4}}) {
    both(plain, {test::input({2, 3, 4}, 1), test::input(shape, 2)});
    both(combined, {test::input({2, 3, 4}, 3), test::input(shape, 4)});
  }
}

TEST_CASE("a mask that does not fit the scores is refused, naming shapes or dtypes") {
  const Tensor scores = ones({2, 3, 4});
  const std::string message = "attention: the mask does not fit the scores, got mask ",
                    shape = " and scores [batch, queries, keys] [2, 3, 4]";
  for (const DType dtype : {DType::boolean, DType::f32}) {
    CHECK_THROWS_WITH_AS(attention_weights(scores, ones({4, 3}, dtype)),
                         (message + "[queries, keys] [4, 3]" + shape).c_str(), Error);
    CHECK_THROWS_WITH_AS(attention_weights(scores, ones({5, 2, 3, 4}, dtype)),
                         (message + "[5, 2, 3, 4]" + shape).c_str(), Error);
    CHECK_THROWS_AS(attention_weights(ones({1, 3, 4}), ones({2, 3, 4}, dtype)), Error);
  }
  CHECK_THROWS_WITH_AS(attention_weights(scores, ones({3, 4}, DType::i64)),
                       "attention: the mask must be boolean (true = may attend) or f32 as the "
                       "scores (added to them), got i64 of shape [3, 4]",
                       Error);
}
