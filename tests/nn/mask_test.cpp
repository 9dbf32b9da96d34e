// Masks: boolean ones, float ones, both together, and the softmax under them.
#include "nn/mask.h"

#include <doctest/doctest.h>

#include <cmath>

#include "nn/alibi.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::attention_weights;
using nn::operator&;

namespace {

constexpr double kNever = -INFINITY;

}  // namespace

TEST_CASE("padding_mask is true at real tokens") {
  const Tensor mask = nn::padding_mask(tensor({2, 0, 3}, DType::i64), 3);
  CHECK(mask.dtype() == DType::boolean);
  CHECK(mask.shape() == Shape{3, 1, 3});
  CHECK(mask.to_vector<bool>() == std::vector<bool>{1, 1, 0, 0, 0, 0, 1, 1, 1});
  CHECK_THROWS_WITH_AS(nn::padding_mask(tensor({4}, DType::i64), 3),
                       "padding_mask: length 4 is not in [0, 3]", Error);
  CHECK_THROWS_WITH_AS(nn::padding_mask(ones({2}), 3),
                       "padding_mask: lengths must be i64 [batch], got f32 [2]", Error);
  CHECK_THROWS_AS(nn::padding_mask(tensor({{2}}, DType::i64), 3), Error);
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

TEST_CASE("window_mask with fewer queries than keys: the last query meets the last key") {
  const Tensor all = nn::window_mask(5, 1);
  CHECK(nn::window_mask(2, 5, 1).to_vector<bool>() == slice(all, 0, 3).to_vector<bool>());
  CHECK(nn::window_mask(1, 4, 0).to_vector<bool>() == std::vector<bool>{0, 0, 0, 1});
  CHECK(nn::window_mask(2, 3, INT64_MAX).to_vector<bool>() == std::vector<bool>(6, true));
}

TEST_CASE("the number of a mask's axes says what they are, with heads and without") {
  const auto fitted = [](const Shape& mask, const Shape& scores) {
    return nn::fit_mask("op", full(mask, 1, DType::boolean), scores, DType::f32).shape();
  };
  const Shape heads{2, 8, 3, 4}, plain{2, 3, 4};
  CHECK(fitted({3, 4}, heads) == Shape{3, 4});
  CHECK(fitted({2, 3, 4}, heads) == Shape{2, 1, 3, 4});
  CHECK(fitted({2, 1, 4}, heads) == Shape{2, 1, 1, 4});
  CHECK(fitted({1, 8, 3, 4}, heads) == Shape{1, 8, 3, 4});
  CHECK(fitted({3, 4}, plain) == Shape{3, 4});
  CHECK(fitted({1, 3, 1}, plain) == Shape{1, 3, 1});
  CHECK(fitted({2, 1, 1, 4}, plain) == Shape{2, 1, 4});
  CHECK(fitted({3, 4}, {3, 4}) == Shape{3, 4});
  CHECK(fitted({0, 4}, {2, 8, 0, 4}) == Shape{0, 4});
}

TEST_CASE("a mask is never taken for another one whose extents happen to be equal") {
  const auto refuses = [](const Shape& mask, const Shape& scores, const char* message) {
    const Tensor given = full(mask, 1, DType::boolean);
    CHECK_THROWS_WITH_AS(attention_weights(ones(scores), given), message, Error);
  };
  // [batch, keys], which is no mask: batch 2 and queries 3, and a batch of 1.
  refuses({2, 4}, {2, 3, 4},
          "attention: the mask does not fit the scores, got mask [queries, keys] [2, 4] and scores "
          "[batch, queries, keys] [2, 3, 4]");
  refuses({1, 4}, {1, 3, 4},
          "attention: the mask does not fit the scores, got mask [queries, keys] [1, 4] and scores "
          "[batch, queries, keys] [1, 3, 4]");
  refuses({1, 4}, {1, 8, 3, 4},
          "attention: the mask does not fit the scores, got mask [queries, keys] [1, 4] and scores "
          "[batch, heads, queries, keys] [1, 8, 3, 4]");
  // [heads, queries, keys] is no mask, even where heads could be taken for the batch.
  refuses({8, 3, 4}, {2, 8, 3, 4},
          "attention: the mask does not fit the scores, got mask [batch, queries, keys] [8, 3, 4] "
          "and scores [batch, heads, queries, keys] [2, 8, 3, 4]");
  // A mask for heads that the scores do not have.
  refuses({2, 8, 3, 4}, {2, 3, 4},
          "attention: the mask does not fit the scores, got mask [batch, heads, queries, keys] "
          "[2, 8, 3, 4] and scores [batch, queries, keys] [2, 3, 4]");
  refuses({4}, {2, 3, 4},
          "attention: the mask does not fit the scores, got mask [4] and scores [batch, queries, "
          "keys] [2, 3, 4]");
  // padding_mask where batch, queries and keys are all 2: row 1 has one key less, for both queries.
  const Tensor real = nn::padding_mask(tensor({2, 1}, DType::i64), 2);
  const std::vector<float> want{.5, .5, .5, .5, 1, 0, 1, 0};
  CHECK(attention_weights(ones({2, 2, 2}), real).to_vector<float>() == want);
  CHECK(attention_weights(ones({2, 1, 2, 2}), real).to_vector<float>() == want);
}

TEST_CASE("masks are combined by &: boolean by and, float by adding, one of each by selecting") {
  const Tensor may = tensor({{1, 0}, {1, 0}}, DType::boolean);
  const Tensor column = tensor({{1, 1}, {0, 0}}, DType::boolean);
  const Tensor bias = tensor({{1, 2}, {3, kNever}});
  CHECK((may & column).to_vector<bool>() == std::vector<bool>{1, 0, 0, 0});
  CHECK((bias & tensor({{10, 20}, {10, 20}})).to_vector<float>() ==
        std::vector<float>{11, 22, 13, -INFINITY});
  const std::vector<float> selected{1, -INFINITY, 3, -INFINITY};
  CHECK((may & bias).to_vector<float>() == selected);
  CHECK((bias & may).to_vector<float>() == selected);
  CHECK((to(bias, DType::f64) & may).dtype() == DType::f64);
  CHECK((Tensor() & bias).to_vector<float>() == bias.to_vector<float>());
  CHECK((may & Tensor()).to_vector<bool>() == may.to_vector<bool>());
  CHECK_FALSE((Tensor() & Tensor()).defined());
}

TEST_CASE("masks are combined axis by axis: padding, causal, window, biases of heads") {
  const Tensor real = nn::padding_mask(tensor({3, 2}, DType::i64), 3);
  const Tensor both = real & nn::causal_mask(3);
  CHECK(both.shape() == Shape{2, 3, 3});
  CHECK(both.to_vector<bool>() ==
        std::vector<bool>{1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0});
  CHECK((both & nn::window_mask(3, 0)).to_vector<bool>() ==
        std::vector<bool>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0});
  const Tensor heads = nn::alibi_biases(2, 3, 3);  // as many heads as rows in the batch
  const Tensor all = both & heads;
  CHECK(all.shape() == Shape{2, 2, 3, 3});
  CHECK(all.at({1, 0, 2, 2}) == -INFINITY);
  CHECK(all.at({0, 1, 2, 0}) == heads.at({0, 1, 2, 0}));
  CHECK((heads & both).to_vector<float>() == all.to_vector<float>());
  CHECK_THROWS_WITH_AS(real & nn::causal_mask(2),
                       "masks: they do not fit each other, got [batch, queries, keys] [2, 1, 3] "
                       "and [queries, keys] [2, 2]",
                       Error);
  CHECK_THROWS_AS(full({1, 3}, 1, DType::boolean) & nn::causal_mask(3), Error);
  CHECK_THROWS_AS(full({3}, 1, DType::boolean) & nn::causal_mask(3), Error);
  CHECK_THROWS_WITH_AS(nn::causal_mask(2) & ones({2, 2}, DType::i64),
                       "masks: a mask must be boolean or float, got boolean and i64", Error);
  CHECK_THROWS_WITH_AS(ones({2, 2}) & ones({2, 2}, DType::f64),
                       "masks: two float masks must have one dtype, got f32 and f64", Error);
}

TEST_CASE("attention_weights adds a float mask to the scores") {
  const Tensor scores = test::input({2, 3, 4}, 1), bias = test::input({3, 4}, 2);
  CHECK(test::max_difference(attention_weights(scores, bias), softmax(scores + bias)) == 0);
  CHECK(test::max_difference(attention_weights(scores, {}), softmax(scores)) == 0);
  const Tensor may = tensor({{1, 0, 1, 1}, {1, 1, 1, 1}, {0, 0, 1, 0}}, DType::boolean);
  const Tensor both = attention_weights(scores, may & bias);
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
    return attention_weights(in[0], may & in[1]);
  };
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{3, 4}, Shape{1, 3, 1}, Shape{2, 1, 4}}) {
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
                         (message + "[batch, heads, queries, keys] [5, 2, 3, 4]" + shape).c_str(),
                         Error);
    CHECK_THROWS_AS(attention_weights(ones({1, 3, 4}), ones({2, 3, 4}, dtype)), Error);
  }
  CHECK_THROWS_WITH_AS(attention_weights(scores, ones({3, 4}, DType::i64)),
                       "attention: the mask must be boolean (true = may attend) or f32 as the "
                       "scores (added to them), got i64 of shape [3, 4]",
                       Error);
}
