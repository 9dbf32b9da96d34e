// attend: closed forms by hand, masks, queries that see nothing, and all gradients.
#include "nn/attend.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "nn/mask.h"
#include "nn/scores.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

Tensor f64(const Nested& values) { return tensor(values, DType::f64); }

void check_values(const Tensor& x, const std::vector<double>& want) {
  REQUIRE(x.numel() == static_cast<std::int64_t>(want.size()));
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(x.to_vector<double>()[i] == doctest::Approx(want[i]).epsilon(1e-12));
  }
}

bool all_finite(const Tensor& x) {
  for (const double value : x.to_vector<double>()) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// Backward from context and weights both, with a random gradient.
void backward_through(const Attended& got) {
  const Tensor both = concat({got.context, got.weights}, -1);
  both.backward(test::input(both.shape(), 9).detach());
}

const Normalizer kNormalizers[] = {Normalizer::softmax, Normalizer::relu};

}  // namespace

TEST_CASE("attend with softmax on two queries and two keys") {
  // Scores of row 1: log 3 and log 1, so the weights are 3/4 and 1/4; row 2: equal, 1/2 and 1/2.
  // Values (4, 0) and (8, -4): contexts 3 + 2 = 5 and 0 - 1 = -1; 2 + 4 = 6 and 0 - 2 = -2.
  const Attended got = attend(f64({{{std::log(3.0), 0}, {7, 7}}}), f64({{{4, 0}, {8, -4}}}));
  check_values(got.weights, {0.75, 0.25, 0.5, 0.5});
  check_values(got.context, {5, -1, 6, -2});
}

TEST_CASE("attend with relu on two queries and two keys: weights as they are, negative ones 0") {
  // Weights (2, 0) and (0.5, 1). Contexts 2 (4, 0) = (8, 0); 0.5 (4, 0) + (8, -4) = (10, -4).
  const Attended got =
      attend(f64({{{2, -3}, {0.5, 1}}}), f64({{{4, 0}, {8, -4}}}), {}, Normalizer::relu);
  check_values(got.weights, {2, 0, 0.5, 1});
  check_values(got.context, {8, 0, 10, -4});
}

TEST_CASE("a dot-product attention and an additive one, from states to context, by hand") {
  // s = (log 3, 0); h1 = (1, 0), h2 = (0, 1): dot scores log 3 and 0, weights 3/4 and 1/4, and the
  // context of the keys themselves is (3/4, 1/4).
  const Tensor query = f64({{std::log(3.0), 0}}), keys = f64({{{1, 0}, {0, 1}}});
  check_values(attend(DotScore()(query, keys), keys).context, {0.75, 0.25});
  // Additive with W1 = 1, W2 = 0, v = (a, 0), a = log 3 / tanh 1: scores a tanh 1 = log 3 and 0.
  Rng rng(1);
  const auto additive = nn::to(AdditiveScore(2, 2, 2, rng), DType::f64);
  assign(additive.key_proj.weight, f64({{1, 0}, {0, 1}}));
  assign(additive.query_proj.weight, f64({{0, 0}, {0, 0}}));
  assign(additive.v, f64({std::log(3.0) / std::tanh(1.0), 0}));
  check_values(attend(additive(query, keys), keys).context, {0.75, 0.25});
}

TEST_CASE("a decoder step attends as a sequence of one query does, padding_mask fits as it is") {
  const Tensor scores = test::input({3, 4}, 1), values = test::input({3, 4, 2}, 2);
  const Tensor mask = padding_mask(tensor({4, 1, 2}, DType::i64), 4);
  for (const Normalizer normalizer : kNormalizers) {
    const Attended step = attend(scores, values, mask, normalizer);
    CHECK(step.context.shape() == Shape{3, 2});
    CHECK(step.weights.shape() == Shape{3, 4});
    const Attended one = attend(unsqueeze(scores, 1), values, mask, normalizer);
    CHECK(test::max_difference(step.context, squeeze(one.context, 1)) < 1e-12);
    CHECK(test::max_difference(step.weights, squeeze(one.weights, 1)) < 1e-12);
  }
}

TEST_CASE("MSK1, MSK3, MSK5: a query with nothing to attend to gives zeros and zero gradients") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor mask = tensor({{0, 0, 0}, {1, 0, 1}}, DType::boolean);
  for (const Normalizer normalizer : kNormalizers) {
    for (const double hidden : {1.0, -inf, inf}) {  // what stands behind the mask does not matter
      Tensor scores = f64({{{hidden, hidden, hidden}, {0.5, hidden, 1}}}).requires_grad_();
      const Tensor values = test::input({1, 3, 2}, 2);
      const Attended got = attend(scores, values, mask, normalizer);
      for (int i = 0; i < 3; ++i) CHECK(got.weights.at({0, 0, i}) == 0);
      for (int i = 0; i < 2; ++i) CHECK(got.context.at({0, 0, i}) == 0);
      CHECK(got.weights.at({0, 1, 1}) == 0);
      CHECK(all_finite(got.context));
      backward_through(got);
      for (int i = 0; i < 3; ++i) CHECK(scores.grad().at({0, 0, i}) == 0);
      CHECK(scores.grad().at({0, 1, 1}) == 0);
      CHECK(scores.grad().at({0, 1, 0}) != 0);
      for (int i = 0; i < 2; ++i) CHECK(values.grad().at({0, 1, i}) == 0);  // a key nobody sees
      CHECK(all_finite(scores.grad()));
    }
  }
}

TEST_CASE("what a mask hides changes nothing: padding appended, each batch row on its own") {
  const Tensor scores = test::input({2, 3, 4}, 1), values = test::input({2, 4, 2}, 2);
  const Tensor longer = concat({scores, test::input({2, 3, 2}, 3)}, 2);
  const Tensor more_values = concat({values, test::input({2, 2, 2}, 4)}, 1);
  const Tensor mask = padding_mask(tensor({4, 4}, DType::i64), 6);
  for (const Normalizer normalizer : kNormalizers) {
    const Attended all = attend(scores, values, {}, normalizer);
    const Attended padded = attend(longer, more_values, mask, normalizer);
    CHECK(test::max_difference(all.context, padded.context) < 1e-6);
    CHECK(test::max_difference(all.weights, slice(padded.weights, 2, 0, 4)) < 1e-6);
    CHECK(max(abs(slice(padded.weights, 2, 4, 6))).item() == 0);
    const Attended row = attend(slice(scores, 0, 1, 2), slice(values, 0, 1, 2), {}, normalizer);
    CHECK(test::max_difference(row.context, slice(all.context, 0, 1, 2)) < 1e-6);
  }
}

TEST_CASE("attend over no keys, no queries, no batch; over heads") {
  for (const Normalizer normalizer : kNormalizers) {
    const auto context = [&](const Shape& s, const Shape& v) {
      return attend(test::input(s, 1), test::input(v, 2), {}, normalizer).context;
    };
    CHECK(context({2, 3, 0}, {2, 0, 4}).to_vector<double>() == std::vector<double>(24, 0.0));
    CHECK(context({2, 0, 3}, {2, 3, 4}).shape() == Shape{2, 0, 4});
    CHECK(context({0, 2, 3}, {0, 3, 4}).shape() == Shape{0, 2, 4});
    CHECK(context({0, 3}, {0, 3, 4}).shape() == Shape{0, 4});
    CHECK(context({2, 5, 2, 3}, {2, 5, 3, 4}).shape() == Shape{2, 5, 2, 4});
  }
}

TEST_CASE("gradients of attend, of context and weights, masked and not") {
  const Tensor blind = tensor({{1, 0, 1}, {0, 0, 0}}, DType::boolean);
  for (const Normalizer normalizer : kNormalizers) {
    for (const Tensor& mask : {Tensor(), blind}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        const Attended got = attend(in[0], in[1], mask, normalizer);
        return concat({got.context, got.weights}, 2);
      };
      const std::vector<Tensor> inputs{test::input({2, 2, 3}, 1), test::input({2, 3, 2}, 2)};
      const GradcheckResult first = gradcheck(f, inputs);
      CHECK_MESSAGE(first.ok, first.report);
      const GradcheckResult second = gradgradcheck(f, inputs);
      CHECK_MESSAGE(second.ok, second.report);
    }
    const auto step = [&](const std::vector<Tensor>& in) {
      return attend(in[0], in[1], tensor({{1, 0, 1}}, DType::boolean), normalizer).context;
    };
    const GradcheckResult first =
        gradcheck(step, {test::input({2, 3}, 1), test::input({2, 3, 2}, 2)});
    CHECK_MESSAGE(first.ok, first.report);
  }
}

TEST_CASE("attend refuses what does not fit, with shapes and axis names") {
  const Tensor scores = ones({2, 3, 4}), values = ones({2, 4, 5});
  const auto bad_mask = [&](const Shape& shape) {
    attend(scores, values, full(shape, 1, DType::boolean));
  };
  CHECK_THROWS_WITH_AS(bad_mask({2, 3, 5}),
                       "attend: the mask does not fit the scores, got mask [batch, queries, keys] "
                       "[2, 3, 5] and scores [batch, queries, keys] [2, 3, 4]",
                       Error);
  CHECK_THROWS_WITH_AS(bad_mask({2, 4}),
                       "attend: the mask does not fit the scores, got mask [queries, keys] [2, 4] "
                       "and scores [batch, queries, keys] [2, 3, 4]",
                       Error);
  CHECK_THROWS_WITH_AS(bad_mask({1, 2, 3, 4}),
                       "attend: the mask does not fit the scores, got mask [batch, heads, "
                       "queries, keys] [1, 2, 3, 4] and scores [batch, queries, keys] [2, 3, 4]",
                       Error);
  CHECK_THROWS_WITH_AS(attend(ones({2, 4}), values, full({1, 3}, 1, DType::boolean)),
                       "attend: the mask does not fit the scores, got mask [queries, keys] [1, 3] "
                       "and scores [batch, queries, keys] [2, 1, 4]",
                       Error);
  CHECK_THROWS_WITH_AS(attend(scores, values, ones({3, 4}, DType::f64)),
                       "attend: the mask must be boolean (true = may attend) or f32 as the scores "
                       "(added to them), got f64 of shape [3, 4]",
                       Error);
  for (const Shape& wrong : {Shape{2, 3, 5}, Shape{1, 3, 4}, Shape{3, 4}, Shape{4}}) {
    CHECK_THROWS_AS(attend(ones(wrong), values), Error);
  }
  CHECK_THROWS_WITH_AS(attend(ones({2, 3, 5}), values),
                       "attend: scores must be [batch, queries, keys] or [batch, keys] and values "
                       "[batch, keys, d_v], got [2, 3, 5] and [2, 4, 5]",
                       Error);
}

TEST_CASE("attend adds a float mask to the scores, under softmax and under relu") {
  const Tensor scores = tensor({{{1, -2, 5}}}), values = tensor({{{1}, {10}, {100}}});
  const Tensor bias = tensor({{1, 4, -INFINITY}});
  const Tensor relu_weights = attend(scores, values, bias, Normalizer::relu).weights;
  CHECK(relu_weights.to_vector<float>() == std::vector<float>{2, 2, 0});
  const Attended even = attend(scores, values, bias);  // scores 2, 2 and none
  CHECK(even.weights.to_vector<float>() == std::vector<float>{.5F, .5F, 0});
  CHECK(even.context.item() == doctest::Approx(5.5));
}
