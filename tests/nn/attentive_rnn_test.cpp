// Recurrent networks with attention over their own past: against plain loops, their laws (causal,
// padding, batch, step by step), all gradients by finite differences.
#include "nn/attentive_rnn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

using Vector = std::vector<double>;

Vector times(const Tensor& matrix, const Vector& x) {
  Vector y(static_cast<std::size_t>(matrix.size(0)));
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      y[i] += matrix.at({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)}) * x[j];
    }
  }
  return y;
}

Vector plus(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Vector softmax(Vector e) {
  double sum = 0;
  for (double& x : e) sum += x = std::exp(x);
  for (double& x : e) x /= sum;
  return e;
}

// v^T tanh(W1 h + W2 s)
double additive(const AdditiveScore& score, const Vector& s, const Vector& h) {
  const Vector v = score.v.to_vector<double>();
  const Vector both = plus(times(score.key_proj.weight, h), times(score.query_proj.weight, s));
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * std::tanh(both[i]);
  return sum;
}

Vector mixed(const Vector& weights, const std::vector<Vector>& states, std::size_t n) {
  Vector sum(n);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t j = 0; j < n; ++j) sum[j] += weights[i] * states[i][j];
  }
  return sum;
}

// The sums of a cell's gates for x and a state, with both biases.
Vector gates(const RecurrentWeights& cell, const Vector& x, const Vector& h) {
  return plus(plus(times(cell.weight_ih, x), cell.bias_ih.to_vector<double>()),
              plus(times(cell.weight_hh, h), cell.bias_hh.to_vector<double>()));
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

Vector row_of(const Tensor& x, std::int64_t b, std::int64_t t) {
  return select(select(x, 0, b), 0, t).to_vector<double>();
}

void check_equal(const Tensor& got, std::int64_t b, std::int64_t t, Vector want) {
  const Vector values = row_of(got, b, t);
  want.resize(values.size());  // the weights of later steps are 0
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(values[i] == doctest::Approx(want[i]).epsilon(1e-12));
  }
}

// Everything that a layer gives, in one row.
template <class Layer>
Tensor all_of(const Layer& layer, const Tensor& x, const Tensor& lengths) {
  const AttentiveOutput out = layer(x, lengths);
  return concat({reshape(out.output, {-1}), reshape(out.weights, {-1})});
}

AttentiveRNN with_score(const AttentionScore& score, Rng& rng) {
  AttentiveRNN layer(3, 4, rng);
  layer.score = score;
  return to(layer, DType::f64);
}

// f of one layer of each kind.
void for_each_layer(std::uint64_t seed, const auto& f) {
  Rng rng(seed);
  f(to(AttentiveRNN(3, 4, rng), DType::f64));
  f(with_score(ScaledDotScore(), rng));
  f(to(LSTMN(3, 4, rng), DType::f64));
}

}  // namespace

TEST_CASE("AttentiveRNN is its formula in plain loops") {
  Rng rng(1);
  const auto layer = to(AttentiveRNN(3, 4, rng), DType::f64);
  const auto& score = std::get<AdditiveScore>(layer.score);
  const Tensor x = randn({2, 5, 3}, rng, DType::f64);
  const AttentiveOutput out = layer(x);
  for (std::int64_t b = 0; b < 2; ++b) {
    std::vector<Vector> h;
    for (std::int64_t t = 0; t < 5; ++t) {
      Vector e;
      for (const Vector& state : h) e.push_back(additive(score, h.back(), state));
      const Vector a = softmax(e);
      Vector next = gates(layer.cell, row_of(x, b, t), mixed(a, h, 4));
      for (double& value : next) value = std::tanh(value);
      h.push_back(next);
      check_equal(out.output, b, t, next);
      check_equal(out.weights, b, t, a);
    }
  }
}

TEST_CASE("LSTMN is its formula in plain loops") {
  Rng rng(2);
  const auto layer = to(LSTMN(3, 4, rng), DType::f64);
  const Tensor x = randn({2, 5, 3}, rng, DType::f64);
  const AttentiveOutput out = layer(x);
  for (std::int64_t b = 0; b < 2; ++b) {
    std::vector<Vector> h, c;
    Vector summary(4);  // h~
    for (std::int64_t t = 0; t < 5; ++t) {
      const Vector input = row_of(x, b, t);
      Vector query = input, e, next_h(4), next_c(4);
      query.insert(query.end(), summary.begin(), summary.end());
      for (const Vector& state : h) e.push_back(additive(layer.score, query, state));
      const Vector a = softmax(e), cells = mixed(a, c, 4);
      summary = mixed(a, h, 4);
      const Vector g = gates(layer.cell, input, summary);
      for (std::size_t j = 0; j < 4; ++j) {
        next_c[j] = logistic(g[4 + j]) * cells[j] + logistic(g[j]) * std::tanh(g[8 + j]);
        next_h[j] = logistic(g[12 + j]) * std::tanh(next_c[j]);
      }
      h.push_back(next_h), c.push_back(next_c);
      check_equal(out.output, b, t, next_h);
      check_equal(out.weights, b, t, a);
    }
  }
}

TEST_CASE("attention over the past: weights are strictly lower triangular and add up to 1") {
  for_each_layer(3, [](const auto& layer) {
    const Tensor x = test::input({2, 6, 3}, 1);
    const Tensor weights = layer(x).weights.detach();
    CHECK(weights.shape() == Shape{2, 6, 6});
    CHECK(max(abs(triu(weights))).item() == 0);
    CHECK(test::max_difference(slice(sum(weights, {2}), 1, 1), ones({2, 5}, DType::f64)) < 1e-14);
    CHECK(min(add(weights, triu(ones({6, 6}, DType::f64)))).item() > 0);
  });
}

TEST_CASE("attention over the past: a token changes nothing before it, bit for bit") {
  for_each_layer(4, [](const auto& layer) {
    const Tensor x = test::input({2, 6, 3}, 1).detach();
    const Tensor end = test::input({2, 2, 3}, 2).detach();
    const AttentiveOutput a = layer(x), b = layer(concat({slice(x, 1, 0, 4), end}, 1));
    CHECK(test::max_difference(slice(a.output, 1, 0, 4), slice(b.output, 1, 0, 4)) == 0);
    CHECK(test::max_difference(slice(a.weights, 1, 0, 4), slice(b.weights, 1, 0, 4)) == 0);
    CHECK(test::max_difference(select(a.output, 1, 4), select(b.output, 1, 4)) > 1e-3);
  });
}

TEST_CASE("attention over the past: each row of a batch equals the row alone, of its own length") {
  for_each_layer(5, [](const auto& layer) {
    const Tensor x = test::input({4, 8, 3}, 1).detach();
    const std::vector<std::int64_t> lengths{4, 6, 8, 0};
    const AttentiveOutput all = layer(x, from_vector(lengths, {4}));
    for (std::int64_t b = 0; b < 4; ++b) {
      const std::int64_t n = lengths[static_cast<std::size_t>(b)];
      const AttentiveOutput alone = layer(slice(slice(x, 0, b, b + 1), 1, 0, n));
      const Tensor output = slice(all.output, 0, b, b + 1);
      const Tensor weights = slice(all.weights, 0, b, b + 1);
      CHECK(test::max_difference(slice(output, 1, 0, n), alone.output) < 1e-14);
      CHECK(test::max_difference(slice(slice(weights, 1, 0, n), 2, 0, n), alone.weights) < 1e-14);
      CHECK(sum(abs(slice(output, 1, n))).item() + sum(abs(slice(weights, 1, n))).item() == 0);
    }
  });
}

TEST_CASE("attention over the past: NaN in the padding reaches no output and no gradient") {
  const Tensor lengths = tensor({2, 4, 3}, DType::i64);
  const Tensor outside = unsqueeze(ge(arange(5, DType::i64), unsqueeze(lengths, 1)), 2);
  for_each_layer(6, [&](const auto& layer) {
    std::vector<Tensor> results;
    for (const double padding : {0.0, std::nan("")}) {
      const Tensor x =
          masked_fill(test::input({3, 5, 3}, 1).detach(), outside, padding).requires_grad_();
      for (Tensor& parameter : parameters(layer)) parameter.zero_grad();
      const Tensor y = all_of(layer, x, lengths);
      y.backward(arange(static_cast<double>(y.numel()), DType::f64));
      std::vector<Tensor> parts{y.detach(), reshape(x.grad(), {-1})};
      for (const Tensor& p : parameters(layer)) parts.push_back(reshape(p.grad(), {-1}));
      results.push_back(concat(parts));
      CHECK(max(abs(masked_fill(x.grad(), logical_not(outside), 0))).item() == 0);
    }
    CHECK(results[0].to_vector<double>() == results[1].to_vector<double>());
  });
}

TEST_CASE("attention over the past: step by step is all at once, also after reordering rows") {
  for_each_layer(7, [](const auto& layer) {
    const Tensor x = test::input({3, 6, 3}, 1).detach();
    const AttentiveOutput all = layer(x);
    PastStates past;
    for (std::int64_t t = 0; t < 6; ++t) {
      const AttentiveStep step = layer.step(select(x, 1, t), past);
      CHECK(test::max_difference(step.output, select(all.output, 1, t)) < 1e-14);
      CHECK(test::max_difference(step.weights, slice(select(all.weights, 1, t), 1, 0, t)) < 1e-14);
      past = step.past;
    }
    const Tensor rows = tensor({2, 0, 0, 1}, DType::i64);
    const Tensor x_of_rows = index_select(x, 0, rows);
    past = layer(slice(x, 1, 0, 2)).past.select_rows(rows);
    CHECK(past.size() == 2);
    CHECK(test::max_difference(layer(slice(x_of_rows, 1, 2), {}, past).output,
                               slice(index_select(all.output, 0, rows), 1, 2)) < 1e-14);
  });
}

TEST_CASE("attention over the past: a batch of unequal lengths goes on where each row ended") {
  for_each_layer(8, [](const auto& layer) {
    const Tensor x = test::input({2, 4, 3}, 1).detach(), more = test::input({2, 3, 3}, 2).detach();
    const Tensor rows = tensor({1, 0}, DType::i64);
    const PastStates past = layer(x, tensor({2, 4}, DType::i64)).past.select_rows(rows);
    const AttentiveOutput both = layer(index_select(more, 0, rows), {}, past);
    CHECK(both.weights.shape() == Shape{2, 3, 7});
    for (std::int64_t b = 0; b < 2; ++b) {
      const Tensor read = slice(slice(x, 0, b, b + 1), 1, 0, b == 0 ? 2 : 4);
      const Tensor alone = layer(concat({read, slice(more, 0, b, b + 1)}, 1)).output;
      CHECK(test::max_difference(slice(both.output, 0, 1 - b, 2 - b), slice(alone, 1, -3)) < 1e-14);
    }
    CHECK(max(abs(slice(slice(both.weights, 0, 1), 2, 2, 4))).item() == 0);  // the padding
  });
}

TEST_CASE("gradients of AttentiveRNN and LSTMN, with and without lengths, and of a past") {
  for_each_layer(9, [](const auto& layer) {
    for (const Tensor& lengths : {Tensor(), tensor({3, 1}, DType::i64)}) {
      const auto f = [&](const std::vector<Tensor>& in) { return all_of(layer, in[0], lengths); };
      const auto first = nn::gradcheck(layer, f, {test::input({2, 3, 3}, 1)});
      CHECK_MESSAGE(first.ok, first.report);
      const auto second = nn::gradgradcheck(layer, f, {test::input({2, 3, 3}, 1)});
      CHECK_MESSAGE(second.ok, second.report);
    }
    const auto f = [&](const std::vector<Tensor>& in) {
      const PastStates past = layer(in[0], tensor({2, 1}, DType::i64)).past;
      return layer(in[1], {}, past.select_rows(tensor({1, 1, 0}, DType::i64))).output;
    };
    const auto on = nn::gradcheck(layer, f, {test::input({2, 2, 3}, 1), test::input({3, 2, 3}, 2)});
    CHECK_MESSAGE(on.ok, on.report);
  });
}

TEST_CASE("attention over the past: number of parameters, names") {
  Rng rng(10);
  constexpr std::int64_t in = 3, n = 5;
  const std::int64_t cell = n * (in + n + 2);  // A, and two biases
  CHECK(parameter_count(AttentiveRNN(in, n, rng)) == cell + n * 2 * n + n);
  CHECK(parameter_count(AttentiveRNN(in, n, rng, {.bias = false})) == n * (in + n) + n * 2 * n + n);
  CHECK(parameter_count(LSTMN(in, n, rng)) == 4 * cell + n * (in + n + n) + n);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : named_tensors(LSTMN(in, n, rng))) names.push_back(name);
  CHECK(names == std::vector<std::string>{"cell.weight_ih", "cell.weight_hh", "cell.bias_ih",
                                          "cell.bias_hh", "score.query_proj.weight",
                                          "score.key_proj.weight", "score.v"});
}

TEST_CASE("attention over the past: empty batches and sequences, and what is refused") {
  for_each_layer(11, [](const auto& layer) {
    CHECK(layer(zeros({0, 4, 3}, DType::f64)).output.shape() == Shape{0, 4, 4});
    CHECK(layer(zeros({2, 0, 3}, DType::f64)).output.shape() == Shape{2, 0, 4});
    CHECK(layer(zeros({2, 0, 3}, DType::f64)).weights.shape() == Shape{2, 0, 0});
  });
  Rng rng(12);
  CHECK_THROWS_WITH_AS(LSTMN(0, 2, rng),
                       "RNN: the widths must be at least 1, got in 0 and hidden 2", Error);
  const LSTMN layer(3, 2, rng);
  CHECK_THROWS_WITH_AS(layer(zeros({2, 5, 4})),
                       "LSTMN: x must be [batch, time, 3], got shape [2, 5, 4]", Error);
  CHECK_THROWS_WITH_AS(layer(zeros({2, 5, 3}), tensor({1, 2, 3}, DType::i64)),
                       "LSTMN: lengths must be [batch], got [3] for batch 2", Error);
  CHECK_THROWS_WITH_AS(layer.step(zeros({2, 4}), {}), "LSTMN: x must be [batch, 3], got [2, 4]",
                       Error);
  const PastStates past = layer(zeros({2, 5, 3})).past;
  CHECK_THROWS_WITH_AS(layer.step(zeros({1, 3}), past),
                       "LSTMN: the states of the past must be [1, past, 4] for x of shape [1, 3], "
                       "got [2, 5, 4]",
                       Error);
}
