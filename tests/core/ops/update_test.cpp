// The in-place updates against their formulas in plain loops.
#include "core/ops/update.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/ops.h"
#include "core/trace.h"

namespace gradzoo {
namespace {

// Sizes around the vector width, and one beyond a block of the parallel loop.
const std::vector<std::int64_t> kSizes = {0, 1, 7, 8, 17, 33, 40001};

// Every other column of a wider matrix: same numbers, other strides.
Tensor strided(const Tensor& x) { return select(stack({x, neg(x)}, 1), 1, 0); }

template <class T>
void check_close(const Tensor& x, const std::vector<double>& expected) {
  const std::vector<T> values = x.to_vector<T>();
  REQUIRE(values.size() == expected.size());
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, std::abs(values[i] - expected[i]) / (1 + std::abs(expected[i])));
  }
  CHECK(worst <= tolerance);
}

std::vector<double> as_doubles(const Tensor& x) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.numel(); ++i) values.push_back(x.at({i}));
  return values;
}

template <class T>
void check_sgd(std::int64_t n, const SgdStep& rule) {
  Rng rng(1);
  const Tensor p = randn({n}, rng, dtype_of<T>), v = zeros({n}, dtype_of<T>);
  std::vector<double> p_expected = as_doubles(p), v_expected(p_expected.size(), 0.0);
  for (int step = 0; step < 3; ++step) {
    const Tensor g = randn({n}, rng, dtype_of<T>);
    const std::vector<double> gradient = as_doubles(g);
    sgd_update(p, step == 1 ? strided(g) : g, rule.momentum == 0 ? Tensor() : v, rule);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double with_decay = gradient[i] + rule.weight_decay * p_expected[i];
      v_expected[i] = rule.momentum * v_expected[i] + with_decay;
      const double direction =
          rule.nesterov ? with_decay + rule.momentum * v_expected[i] : v_expected[i];
      p_expected[i] -= rule.lr * direction;
    }
  }
  check_close<T>(p, p_expected);
  if (rule.momentum != 0) check_close<T>(v, v_expected);
}

template <class T>
void check_adam(std::int64_t n, AdamStep rule) {
  Rng rng(2);
  const DType dtype = dtype_of<T>;
  const Tensor p = randn({n}, rng, dtype), m = zeros({n}, dtype), v = zeros({n}, dtype);
  std::vector<double> p_expected = as_doubles(p);
  std::vector<double> m_expected(p_expected.size(), 0.0), v_expected(p_expected.size(), 0.0);
  for (int step = 1; step <= 3; ++step) {
    const Tensor g = randn({n}, rng, dtype);
    const std::vector<double> gradient = as_doubles(g);
    rule.step = step;
    adam_update(p, step == 2 ? strided(g) : g, m, v, rule);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& x = p_expected[i];
      double d = gradient[i];
      if (rule.decoupled) {
        x -= rule.lr * rule.weight_decay * x;
      } else {
        d += rule.weight_decay * x;
      }
      m_expected[i] = rule.beta1 * m_expected[i] + (1 - rule.beta1) * d;
      v_expected[i] = rule.beta2 * v_expected[i] + (1 - rule.beta2) * d * d;
      const double mean = m_expected[i] / (1 - std::pow(rule.beta1, step));
      const double variance = v_expected[i] / (1 - std::pow(rule.beta2, step));
      x -= rule.lr * mean / (std::sqrt(variance) + rule.eps);
    }
  }
  check_close<T>(p, p_expected);
  check_close<T>(m, m_expected);
  check_close<T>(v, v_expected);
}

TEST_CASE("sgd_update: plain, decay, momentum, Nesterov") {
  for (const std::int64_t n : kSizes) {
    for (const SgdStep& rule :
         {SgdStep{.lr = 0.1}, SgdStep{.lr = 0.1, .weight_decay = 0.3},
          SgdStep{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.3},
          SgdStep{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.3, .nesterov = true}}) {
      CAPTURE(n);
      CAPTURE(rule.momentum);
      check_sgd<float>(n, rule);
      check_sgd<double>(n, rule);
    }
  }
}

TEST_CASE("adam_update: Adam, with decay in the gradient, and AdamW") {
  for (const std::int64_t n : kSizes) {
    for (const AdamStep& rule : {AdamStep{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3},
                                 AdamStep{.lr = 0.1, .weight_decay = 0.3},
                                 AdamStep{.lr = 0.1, .weight_decay = 0.3, .decoupled = true}}) {
      CAPTURE(n);
      CAPTURE(rule.decoupled);
      check_adam<float>(n, rule);
      check_adam<double>(n, rule);
    }
  }
}

TEST_CASE("adam_update: a gradient of 0 moves nothing") {
  const Tensor p = ones({4}), m = zeros({4}), v = zeros({4});
  adam_update(p, zeros({4}), m, v, {.step = 1, .lr = 0.1});
  CHECK(p.to_vector<float>() == std::vector<float>(4, 1.0F));
}

TEST_CASE("update: a step between forward and backward is refused, with the op's name") {
  Tensor p = ones({3}, DType::f64);
  p.requires_grad_();
  const Tensor loss = sum(square(p));
  sgd_update(p, ones({3}, DType::f64), {}, {.lr = 0.1});
  CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains("square"), Error);
  const Tensor again = sum(square(p));
  const Tensor m = zeros({3}, DType::f64), v = zeros({3}, DType::f64);
  adam_update(p, ones({3}, DType::f64), m, v, {.lr = 0.1});
  CHECK_THROWS_WITH_AS(again.backward(), doctest::Contains("square"), Error);
}

TEST_CASE("update: an open trace keeps the values that a step overwrites") {
  const Tensor p = tensor({3, 4}, DType::f64);
  const Trace trace;
  square(p);
  sgd_update(p, ones({2}, DType::f64), {}, {.lr = 1});
  CHECK(trace.steps().at(0).inputs.at(0).to_vector<double>() == std::vector<double>{3, 4});
  CHECK(p.to_vector<double>() == std::vector<double>{2, 3});
}

TEST_CASE("update: what does not fit is an error and changes nothing") {
  const Tensor p = ones({3}), good = ones({3}), short_one = ones({2}), wide = ones({3}, DType::f64);
  const auto contains = [](const char* text) { return doctest::Contains(text); };
  CHECK_THROWS_WITH_AS(sgd_update(p, short_one, {}, {.lr = 1}), contains("sgd_update"), Error);
  CHECK_THROWS_WITH_AS(sgd_update(p, wide, {}, {.lr = 1}), contains("f64"), Error);
  CHECK_THROWS_WITH_AS(sgd_update(p, good, {}, {.lr = 1, .momentum = 0.9}), contains("velocity"),
                       Error);
  CHECK_THROWS_WITH_AS(adam_update(p, good, short_one, good, {.lr = 1}), contains("state"), Error);
  CHECK_THROWS_WITH_AS(adam_update(p, good, good, good, {.step = 0, .lr = 1}), contains("got 0"),
                       Error);
  CHECK_THROWS_WITH_AS(sgd_update(strided(p), good, {}, {.lr = 1}), contains("contiguous"), Error);
  Tensor x = ones({3});
  x.requires_grad_();
  CHECK_THROWS_WITH_AS(sgd_update(x * 2, good, {}, {.lr = 1}), contains("leaf"), Error);
  CHECK(p.to_vector<float>() == std::vector<float>(3, 1.0F));
}

}  // namespace
}  // namespace gradzoo
