// Attention: against plain loops, with weights, queries that see nothing.
#include "nn/attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/scope.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

// softmax(q k^T / sqrt(d)) v for [n, d], [m, d], [m, e], in loops.
std::vector<double> plain_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const std::vector<bool>& mask) {
  const std::int64_t n = q.size(0), m = k.size(0), d = q.size(1), e = v.size(1);
  std::vector<double> out(static_cast<std::size_t>(n * e), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> weight(static_cast<std::size_t>(m), 0);
    double total = 0;
    for (std::int64_t j = 0; j < m; ++j) {
      if (!mask[static_cast<std::size_t>(i * m + j)]) continue;
      double score = 0;
      for (std::int64_t c = 0; c < d; ++c) score += q.at({i, c}) * k.at({j, c});
      total += weight[static_cast<std::size_t>(j)] =
          std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    for (std::int64_t j = 0; j < m && total > 0; ++j) {
      for (std::int64_t c = 0; c < e; ++c) {
        out[static_cast<std::size_t>(i * e + c)] +=
            weight[static_cast<std::size_t>(j)] / total * v.at({j, c});
      }
    }
  }
  return out;
}

MultiheadAttention attention_f64(std::int64_t width, std::int64_t heads, bool bias = true) {
  Rng rng(7);
  MultiheadAttention made(width, heads, rng, {.bias = bias});
  if (bias) {  // biases start at 0, where a wrong one would not show
    assign(made.in_proj_bias, randn({3 * width}, rng));
    assign(made.out_proj.bias, randn({width}, rng));
  }
  return nn::to(made, DType::f64);
}

}  // namespace

TEST_CASE("scaled_dot_product_attention equals plain loops, masked and not") {
  const Tensor q = test::input({3, 4}, 1), k = test::input({5, 4}, 2), v = test::input({5, 2}, 3);
  const std::vector<bool> all(15, true);
  const std::vector<bool> some{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};  // row 1: nothing
  const auto expect = [&](const Tensor& y, const std::vector<bool>& mask) {
    const std::vector<double> want = plain_attention(q, k, v, mask);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(y.to_vector<double>()[i] == doctest::Approx(want[i]).epsilon(1e-12));
    }
  };
  expect(scaled_dot_product_attention(q, k, v), all);
  expect(scaled_dot_product_attention(q, k, v, from_vector(some, {3, 5})), some);
}

TEST_CASE("MSK1: a query with nothing to attend to gives zeros, and every gradient is finite") {
  const Tensor q = test::input({2, 3}, 1), k = test::input({4, 3}, 2), v = test::input({4, 3}, 3);
  const Tensor mask = tensor({{0, 0, 0, 0}, {1, 0, 1, 1}}, DType::boolean);
  const Tensor y = scaled_dot_product_attention(q, k, v, mask);
  for (int c = 0; c < 3; ++c) CHECK(y.at({0, c}) == 0);
  sum(y * test::input({2, 3}, 4).detach()).backward();
  for (int c = 0; c < 3; ++c) {
    CHECK(q.grad().at({0, c}) == 0);  // the blind query
    CHECK(k.grad().at({1, c}) == 0);  // a key nobody sees
    CHECK(std::isfinite(q.grad().at({1, c})));
  }
}

TEST_CASE("heads are split and merged without mixing") {
  const Tensor x = reshape(arange(24), {1, 3, 8});
  const Tensor apart = split_heads(x, 2);
  CHECK(apart.shape() == Shape{1, 2, 3, 4});
  CHECK(apart.at({0, 1, 2, 3}) == x.at({0, 2, 7}));
  CHECK(merge_heads(apart).to_vector<float>() == x.to_vector<float>());
}

TEST_CASE("one head of MultiheadAttention is projection, attention, projection") {
  const MultiheadAttention layer = attention_f64(4, 1);
  const Tensor x = test::input({1, 3, 4}, 1), memory = test::input({1, 5, 4}, 2);
  const auto project = [&](const Tensor& in, int part) {
    return linear(in, slice(layer.in_proj_weight, 0, 4 * part, 4 * part + 4),
                  slice(layer.in_proj_bias, 0, 4 * part, 4 * part + 4));
  };
  const Tensor want = layer.out_proj(
      scaled_dot_product_attention(project(x, 0), project(memory, 1), project(memory, 2)));
  CHECK(test::max_difference(layer(x, memory, memory), want) < 1e-12);
  // The packed product of self-attention is the same map.
  const Tensor same = clone(x);
  CHECK(test::max_difference(layer(x, x, x), layer(x, same, same)) < 1e-12);
}

TEST_CASE("MultiheadAttention with weights: the output of the fast path, in training too") {
  MultiheadAttention layer = attention_f64(6, 3);
  layer.dropout = 0.4;
  const Tensor x = test::input({2, 4, 6}, 1), memory = test::input({2, 5, 6}, 2);
  for (const Tensor& mask : {Tensor(), causal_mask(4, 5)}) {
    const Attended got = layer.with_weights(x, memory, memory, mask);
    CHECK(got.context.to_vector<double>() == layer(x, memory, memory, mask).to_vector<double>());
    CHECK(got.weights.shape() == Shape{2, 3, 4, 5});
    CHECK(test::max_difference(sum(got.weights, {3}), ones({2, 3, 4}, DType::f64)) < 1e-12);
    Rng one(3), two(3);
    const Tensor fast = [&] {
      const TrainingScope training(one);
      return layer(x, memory, memory, mask);
    }();
    const TrainingScope training(two);
    const Attended dropped = layer.with_weights(x, memory, memory, mask);
    CHECK(dropped.context.to_vector<double>() == fast.to_vector<double>());
    CHECK(test::max_difference(dropped.context, got.context) > 1e-3);
    CHECK(test::max_difference(dropped.weights, got.weights) == 0);  // before dropout
  }
}

TEST_CASE("MSK1: a query of MultiheadAttention that sees nothing has weights 0") {
  const MultiheadAttention layer = attention_f64(4, 2);
  const Tensor x = test::input({1, 2, 4}, 1);
  const Attended got = layer.with_weights(x, x, x, tensor({{1, 0}, {0, 0}}, DType::boolean));
  for (int h = 0; h < 2; ++h) {
    for (int k = 0; k < 2; ++k) CHECK(got.weights.at({0, h, 1, k}) == 0);
  }
  // Nothing was mixed in: what is left is the bias of the output.
  CHECK(test::max_difference(reshape(slice(got.context, 1, 1, 2), {4}), layer.out_proj.bias) == 0);
  (sum(got.context) + sum(square(got.weights))).backward();
  for (const Tensor& parameter : nn::parameters(layer)) {
    for (const double g : parameter.grad().to_vector<double>()) CHECK(std::isfinite(g));
  }
}

// The report's input: embed 1, one head, batch 2, time 4. Together with the padding of row 1, its
// last query sees nothing.
TEST_CASE("MSK1: attention mask and padding together hide a row, and every gradient is finite") {
  Rng rng(9);
  const auto layer = nn::to(MultiheadAttention(1, 1, rng), DType::f64);
  const Tensor x = rand({2, 4, 1}, rng, DType::f64).requires_grad_();
  const Tensor mask =
      tensor({{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}}, DType::boolean);
  const Tensor real = padding_mask(tensor({4, 2}, DType::i64), 4);
  const Attended got = layer.with_weights(x, x, x, mask & real);
  for (int k = 0; k < 4; ++k) CHECK(got.weights.at({1, 0, 3, k}) == 0);
  CHECK(got.weights.at({1, 0, 2, 1}) == 1);
  CHECK(got.context.at({1, 3, 0}) == 0);  // the output's bias starts at 0
  sum(square(got.context)).backward();
  for (const Tensor& parameter : nn::parameters(layer)) {
    for (const double g : parameter.grad().to_vector<double>()) CHECK(std::isfinite(g));
  }
  for (const double g : x.grad().to_vector<double>()) CHECK(std::isfinite(g));
  CHECK(x.grad().at({1, 3, 0}) == 0);
}

TEST_CASE("gradients of MultiheadAttention with weights, of output and weights") {
  const MultiheadAttention layer = attention_f64(4, 2);
  const auto f = [&](const std::vector<Tensor>& in) {
    const Attended got = layer.with_weights(in[0], in[1], in[1], causal_mask(2, 3));
    return concat({reshape(got.context, {8}), reshape(got.weights, {12})}, 0);
  };
  const std::vector<Tensor> inputs{test::input({1, 2, 4}, 1), test::input({1, 3, 4}, 2)};
  const auto first = nn::gradcheck(layer, f, inputs);
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = nn::gradgradcheck(layer, f, inputs);
  CHECK_MESSAGE(second.ok, second.report);
}

TEST_CASE("MultiheadAttention: other widths and fewer heads are the same map by single products") {
  Rng rng(10);
  MultiheadAttention made(8, 4, rng, {.kdim = 3, .vdim = 5, .num_kv_heads = 2});
  assign(made.in_proj_bias, randn({16}, rng));
  const MultiheadAttention layer = nn::to(made, DType::f64);
  CHECK_FALSE(layer.in_proj_weight.defined());
  CHECK(layer.k_proj_weight.shape() == Shape{4, 3});
  CHECK(layer.v_proj_weight.shape() == Shape{4, 5});
  CHECK(parameter_count(layer) == 8 * 8 + 4 * 3 + 4 * 5 + (8 + 4 + 4) + 8 * 8 + 8);
  const Tensor query = test::input({2, 3, 8}, 1), key = test::input({2, 4, 3}, 2),
               value = test::input({2, 4, 5}, 3);
  const auto bias = [&](int from, int to) { return slice(layer.in_proj_bias, 0, from, to); };
  const Tensor q = linear(query, layer.q_proj_weight, bias(0, 8));
  const Tensor k = linear(key, layer.k_proj_weight, bias(8, 12));
  const Tensor v = linear(value, layer.v_proj_weight, bias(12, 16));
  std::vector<Tensor> heads;  // heads 0 and 1 share the first of keys and values
  for (int h = 0; h < 4; ++h) {
    const int g = h / 2;
    heads.push_back(scaled_dot_product_attention(slice(q, 2, 2 * h, 2 * h + 2),
                                                 slice(k, 2, 2 * g, 2 * g + 2),
                                                 slice(v, 2, 2 * g, 2 * g + 2)));
  }
  const Tensor want = layer.out_proj(concat(heads, 2));
  CHECK(test::max_difference(layer(query, key, value), want) < 1e-12);
}

TEST_CASE(
    "MultiheadAttention: the packed product of shared heads, for one, two and three tensors") {
  Rng rng(11);
  MultiheadAttention made(8, 4, rng, {.num_kv_heads = 2});
  assign(made.in_proj_bias, randn({16}, rng));
  const MultiheadAttention layer = nn::to(made, DType::f64);
  CHECK(layer.in_proj_weight.shape() == Shape{16, 8});
  const Tensor x = test::input({2, 3, 8}, 1), y = clone(x), z = clone(x);
  const Tensor one = layer(x, x, x);
  CHECK(test::max_difference(layer(x, y, y), one) < 1e-12);
  CHECK(test::max_difference(layer(x, y, z), one) < 1e-12);
  CHECK(test::max_difference(layer(x, x, z), one) < 1e-12);
}

TEST_CASE("MultiheadAttention names inputs that do not fit") {
  Rng rng(12);
  const MultiheadAttention layer(4, 2, rng);
  CHECK_THROWS_WITH_AS(layer(ones({2, 4}), ones({1, 2, 4}), ones({1, 2, 4})),
                       "MultiheadAttention: query and key must be [batch, time, width] of one "
                       "batch, got [2, 4] and [1, 2, 4]",
                       Error);
  CHECK_THROWS_WITH_AS(
      layer(ones({1, 2, 4}), ones({1, 2, 4}), ones({1, 3, 4})),
      "MultiheadAttention: key and value must be [batch, keys, width], got [1, 2, 4] and [1, 3, 4]",
      Error);
  CHECK_THROWS_AS(layer(ones({2, 3, 4}), ones({1, 3, 4}), ones({1, 3, 4})), Error);
  CHECK_THROWS_WITH_AS(MultiheadAttention(8, 4, rng, {.num_kv_heads = 3}),
                       "MultiheadAttention: num_kv_heads must divide num_heads, got 3 and 4",
                       Error);
  CHECK_THROWS_WITH_AS(MultiheadAttention(8, 4, rng, {.kdim = -1}),
                       "MultiheadAttention: kdim and vdim must be at least 1, got -1 and 8", Error);
}

TEST_CASE("MultiheadAttention refuses heads that do not divide the width, and keeps its dropout") {
  Rng rng(1);
  CHECK(MultiheadAttention(4, 2, rng, {.dropout = 0.3}).dropout == 0.3);
  CHECK_THROWS_WITH_AS(MultiheadAttention(4, 2, rng, {.dropout = 1.5}),
                       "MultiheadAttention: dropout must be in [0, 1], got 1.5", Error);
  CHECK_THROWS_WITH_AS(
      MultiheadAttention(64, 3, rng),
      "MultiheadAttention: num_heads must divide embed_dim, got 3 heads and width 64", Error);
}
