// Relative positions: against plain loops, their laws, and gradients by finite differences.
#include "nn/relative.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/scope.h"
#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

RelativePositions relative_f64(std::int64_t max_distance, std::int64_t d, bool values = true) {
  Rng rng(5);
  RelativePositions made(max_distance, d, rng, {.values = values});
  assign(made.key_weight, randn(made.key_weight.shape(), rng));
  if (values) assign(made.value_weight, randn(made.value_weight.shape(), rng));
  return nn::to(made, DType::f64);
}

// Shaw et al. 2018, equations 3 to 5, for q [n, d], k and v [m, d], one pair at a time.
Tensor plain_attention(const RelativePositions& p, const Tensor& q, const Tensor& k,
                       const Tensor& v, const Tensor& mask) {
  const std::int64_t n = q.size(0), m = k.size(0), d = q.size(1), far = p.key_weight.size(0) / 2;
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto row = [&](std::int64_t j) {
      return far + std::max(-far, std::min(far, j - (i + m - n)));
    };
    std::vector<double> weights;
    double total = 0;
    for (std::int64_t j = 0; j < m; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        score += q.at({i, c}) * (k.at({j, c}) + p.key_weight.at({row(j), c}));
      }
      weights.push_back(mask.at({i, j}) == 0 ? 0 : std::exp(score / std::sqrt(double(d))));
      total += weights.back();
    }
    for (std::int64_t c = 0; c < d; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < m && total > 0; ++j) {
        const double b = p.value_weight.defined() ? p.value_weight.at({row(j), c}) : 0;
        sum += weights[static_cast<std::size_t>(j)] / total * (v.at({j, c}) + b);
      }
      out.push_back(sum);
    }
  }
  return from_vector(out, {n, d});
}

void check_gradients(const RelativePositions& layer, const CheckedFunction& f,
                     const std::vector<Tensor>& inputs) {
  const auto first = nn::gradcheck(layer, f, inputs);
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = nn::gradgradcheck(layer, f, inputs);
  CHECK_MESSAGE(second.ok, second.report);
}

}  // namespace

TEST_CASE("RelativePositions equals plain loops, for any number of queries and keys") {
  for (const bool values : {true, false}) {
    for (const std::int64_t far : {0, 1, 2, 9}) {
      const RelativePositions layer = relative_f64(far, 3, values);
      for (const std::int64_t n : {1, 2, 5}) {
        for (const std::int64_t m : {1, 2, 5, 7}) {
          const Tensor q = test::input({2, 2, n, 3}, 1), k = test::input({2, 2, m, 3}, 2),
                       v = test::input({2, 2, m, 3}, 3);
          for (const Tensor& mask : {ones({n, m}, DType::boolean), causal_mask(n, m)}) {
            const Tensor y = layer(q, k, v, mask);
            const auto head = [](const Tensor& x) { return select(select(x, 0, 1), 0, 1); };
            const Tensor want = plain_attention(layer, head(q), head(k), head(v), mask);
            CHECK(test::max_difference(head(y), want) < 1e-12);
          }
        }
      }
    }
  }
}

TEST_CASE("RelativePositions without distances in the values is a float mask") {
  const RelativePositions layer = relative_f64(2, 4, false);
  const Tensor q = test::input({2, 3, 5, 4}, 1), k = test::input({2, 3, 6, 4}, 2),
               v = test::input({2, 3, 6, 4}, 3), mask = causal_mask(5, 6);
  const Tensor want = scaled_dot_product_attention(q, k, v, mask & layer.scores(q, 6));
  CHECK(test::max_difference(layer(q, k, v, mask), want) < 1e-12);
  CHECK_FALSE(layer.value_weight.defined());
  CHECK_THROWS_AS(layer.context(want), Error);
}

TEST_CASE("RelativePositions: beyond max_distance all distances are one") {
  const RelativePositions layer = relative_f64(2, 4);
  const Tensor q = expand(test::input({1, 4}, 1), {9, 4});
  const Tensor scores = layer.scores(q, 9);
  CHECK(scores.at({8, 0}) == scores.at({8, 6}));
  CHECK(scores.at({8, 0}) == scores.at({5, 3}));
  CHECK(scores.at({8, 6}) != scores.at({8, 7}));
  CHECK(scores.at({0, 2}) == scores.at({0, 8}));
  CHECK(scores.at({0, 2}) != scores.at({2, 0}));  // before is not after
}

TEST_CASE("RelativePositions: a query with nothing to attend to gives zeros") {
  const RelativePositions layer = relative_f64(1, 3);
  const Tensor x = test::input({1, 2, 3}, 1);
  const Tensor y = layer(x, x, x, tensor({{0, 0}, {1, 1}}, DType::boolean));
  CHECK(sum(abs(select(y, 1, 0))).item() == 0);
  y.backward(test::input({1, 2, 3}, 2).detach());
  for (const Tensor& gradient : {x.grad(), layer.key_weight.grad(), layer.value_weight.grad()}) {
    CHECK(std::isfinite(sum(abs(gradient)).item()));
  }
  CHECK(sum(abs(select(layer.value_weight.grad(), 0, 2))).item() == 0);  // nobody looks ahead
}

TEST_CASE("RelativePositions: what is dropped has no part in keys, values or distances") {
  const RelativePositions layer = relative_f64(1, 3);
  const Tensor x = test::input({1, 4, 3}, 1);
  Rng rng(2);
  const TrainingScope training(rng);
  const Attended none = layer.with_weights(x, x, x, {}, 1);
  CHECK(max(abs(none.context)).item() == 0);
  CHECK(test::max_difference(sum(none.weights, {2}), ones({1, 4}, DType::f64)) < 1e-12);
}

TEST_CASE("gradients of RelativePositions") {
  for (const bool values : {true, false}) {
    const RelativePositions layer = relative_f64(1, 2, values);
    const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0], in[1], in[2]); };
    check_gradients(
        layer, f,
        {test::input({2, 1, 3, 2}, 1), test::input({2, 1, 4, 2}, 2), test::input({2, 1, 4, 2}, 3)});
    const auto self = [&](const std::vector<Tensor>& in) {
      return layer(in[0], in[0], in[0], causal_mask(4));
    };
    check_gradients(layer, self, {test::input({1, 2, 4, 2}, 4)});
    check_gradients(layer, self, {test::input({4, 2}, 5)});
  }
}

TEST_CASE("RelativePositions works without queries, in f32, and names its weights") {
  Rng rng(1);
  const RelativePositions layer(3, 4, rng);
  const Tensor none = layer(ones({2, 0, 4}), ones({2, 3, 4}), ones({2, 3, 4}));
  CHECK(none.shape() == Shape{2, 0, 4});
  CHECK(none.dtype() == DType::f32);
  CHECK(nn::parameter_count(layer) == 2 * 7 * 4);
  CHECK(nn::named_parameters(layer)[0].first == "key_weight");
  CHECK(nn::named_parameters(layer)[1].first == "value_weight");
}

TEST_CASE("RelativePositions refuses sizes and widths that do not fit") {
  Rng rng(1);
  CHECK_THROWS_WITH_AS(RelativePositions(-1, 4, rng),
                       "RelativePositions: max_distance must not be negative and d at least 1, got "
                       "-1 and 4",
                       Error);
  CHECK_THROWS_AS(RelativePositions(2, 0, rng), Error);
  const RelativePositions layer(2, 4, rng);
  CHECK_THROWS_WITH_AS(
      layer.scores(ones({2, 3, 5}), 3),
      "RelativePositions: q must be [..., queries, 4] and keys not negative, got [2, 3, 5] and 3",
      Error);
  CHECK_THROWS_AS(layer.context(ones({4})), Error);
  CHECK_THROWS_WITH_AS(layer(ones({2, 4}), ones({3, 4}), ones({3, 1})),
                       "RelativePositions: v must be [..., keys, 4], as wide as the vectors of the "
                       "distances, got [3, 1]",
                       Error);
  const RelativePositions plain(2, 4, rng, {.values = false});
  CHECK(plain(ones({2, 4}), ones({3, 4}), ones({3, 1})).shape() == Shape{2, 1});
  CHECK_THROWS_WITH_AS(plain.context(ones({2, 3})),
                       "RelativePositions: the context needs distances in the values and weights "
                       "[..., queries, keys], got [2, 3]",
                       Error);
}
