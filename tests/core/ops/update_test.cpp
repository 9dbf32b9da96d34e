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
void check_sgd(std::int64_t n, const SgdOptions& rule) {
  Rng rng(1);
  const Tensor p = randn({n}, rng, dtype_of<T>), v = zeros({n}, dtype_of<T>);
  std::vector<double> p_expected = as_doubles(p), v_expected(p_expected.size(), 0.0);
  for (int step = 0; step < 3; ++step) {
    const Tensor g = randn({n}, rng, dtype_of<T>);
    const std::vector<double> gradient = as_doubles(g);
    sgd_update(p, step == 1 ? strided(g) : g, rule.momentum == 0 ? Tensor() : v, rule, step + 1,
               0.5);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double with_decay = gradient[i] + rule.weight_decay * p_expected[i];
      const double fresh = step == 0 ? 1 : 1 - rule.dampening;
      v_expected[i] = rule.momentum * v_expected[i] + fresh * with_decay;
      const double direction =
          rule.nesterov ? with_decay + rule.momentum * v_expected[i] : v_expected[i];
      p_expected[i] -= 0.5 * rule.lr * direction;
    }
  }
  check_close<T>(p, p_expected);
  if (rule.momentum != 0) check_close<T>(v, v_expected);
}

template <class T>
void check_adam(std::int64_t n, const AdamOptions& rule) {
  Rng rng(2);
  const DType dtype = dtype_of<T>;
  const double lr = 0.5 * rule.lr;
  const Tensor p = randn({n}, rng, dtype), m = zeros({n}, dtype), v = zeros({n}, dtype);
  std::vector<double> p_expected = as_doubles(p);
  std::vector<double> m_expected(p_expected.size(), 0.0), v_expected(p_expected.size(), 0.0);
  for (int step = 1; step <= 3; ++step) {
    const Tensor g = randn({n}, rng, dtype);
    const std::vector<double> gradient = as_doubles(g);
    adam_update(p, step == 2 ? strided(g) : g, m, v, rule, step, 0.5);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& x = p_expected[i];
      double d = gradient[i];
      if (rule.decoupled) {
        x -= lr * rule.weight_decay * x;
      } else {
        d += rule.weight_decay * x;
      }
      m_expected[i] = rule.beta1 * m_expected[i] + (1 - rule.beta1) * d;
      v_expected[i] = rule.beta2 * v_expected[i] + (1 - rule.beta2) * d * d;
      const double mean = m_expected[i] / (1 - std::pow(rule.beta1, step));
      const double variance = v_expected[i] / (1 - std::pow(rule.beta2, step));
      x -= lr * mean / (std::sqrt(variance) + rule.eps);
    }
  }
  check_close<T>(p, p_expected);
  check_close<T>(m, m_expected);
  check_close<T>(v, v_expected);
}

template <class T>
void check_rmsprop(std::int64_t n, const RmsPropOptions& rule) {
  Rng rng(3);
  const DType dtype = dtype_of<T>;
  const Tensor p = randn({n}, rng, dtype), s = zeros({n}, dtype);
  const Tensor m = rule.centered ? zeros({n}, dtype) : Tensor();
  const Tensor v = rule.momentum != 0 ? zeros({n}, dtype) : Tensor();
  std::vector<double> p_expected = as_doubles(p);
  std::vector<double> s_expected(p_expected.size(), 0.0), m_expected = s_expected,
                                                          v_expected = s_expected;
  for (int step = 1; step <= 3; ++step) {
    const Tensor g = randn({n}, rng, dtype);
    const std::vector<double> gradient = as_doubles(g);
    rmsprop_update(p, step == 2 ? strided(g) : g, s, m, v, rule, 0.5);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double d = gradient[i] + rule.weight_decay * p_expected[i];
      s_expected[i] = rule.alpha * s_expected[i] + (1 - rule.alpha) * d * d;
      m_expected[i] = rule.alpha * m_expected[i] + (1 - rule.alpha) * d;
      const double mean = rule.centered ? m_expected[i] : 0;
      v_expected[i] =
          rule.momentum * v_expected[i] + d / (std::sqrt(s_expected[i] - mean * mean) + rule.eps);
      p_expected[i] -= 0.5 * rule.lr * v_expected[i];
    }
  }
  check_close<T>(p, p_expected);
  check_close<T>(s, s_expected);
  if (rule.centered) check_close<T>(m, m_expected);
  if (rule.momentum != 0) check_close<T>(v, v_expected);
}

template <class T>
void check_adagrad(std::int64_t n, const AdagradOptions& rule) {
  Rng rng(4);
  const DType dtype = dtype_of<T>;
  const Tensor p = randn({n}, rng, dtype), s = full({n}, rule.initial_accumulator, dtype);
  std::vector<double> p_expected = as_doubles(p), s_expected = as_doubles(s);
  for (int step = 1; step <= 3; ++step) {
    const Tensor g = randn({n}, rng, dtype);
    const std::vector<double> gradient = as_doubles(g);
    adagrad_update(p, step == 2 ? strided(g) : g, s, rule, step, 0.5);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double d = gradient[i] + rule.weight_decay * p_expected[i];
      s_expected[i] += d * d;
      p_expected[i] -= 0.5 * rule.lr / (1 + (step - 1) * rule.lr_decay) * d /
                       (std::sqrt(s_expected[i]) + rule.eps);
    }
  }
  check_close<T>(p, p_expected);
  check_close<T>(s, s_expected);
}

TEST_CASE("sgd_update: plain, decay, momentum, Nesterov") {
  for (const std::int64_t n : kSizes) {
    for (const SgdOptions& rule :
         {SgdOptions{.lr = 0.1}, SgdOptions{.lr = 0.1, .weight_decay = 0.3},
          SgdOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.2, .weight_decay = 0.3},
          SgdOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.3, .nesterov = true}}) {
      CAPTURE(n);
      CAPTURE(rule.momentum);
      check_sgd<float>(n, rule);
      check_sgd<double>(n, rule);
    }
  }
}

TEST_CASE("adam_update: Adam, with decay in the gradient, and AdamW") {
  for (const std::int64_t n : kSizes) {
    for (const AdamOptions& rule :
         {AdamOptions{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3},
          AdamOptions{.lr = 0.1, .weight_decay = 0.3},
          AdamOptions{.lr = 0.1, .weight_decay = 0.3, .decoupled = true}}) {
      CAPTURE(n);
      CAPTURE(rule.decoupled);
      check_adam<float>(n, rule);
      check_adam<double>(n, rule);
    }
  }
}

TEST_CASE("rmsprop_update: plain, with decay, centered, with momentum, both") {
  for (const std::int64_t n : kSizes) {
    for (const double momentum : {0.0, 0.9}) {
      for (const bool centered : {false, true}) {
        CAPTURE(n);
        CAPTURE(momentum);
        CAPTURE(centered);
        const RmsPropOptions rule{.lr = 0.1,
                                  .alpha = 0.8,
                                  .eps = 0.1,
                                  .momentum = momentum,
                                  .weight_decay = 0.3,
                                  .centered = centered};
        check_rmsprop<float>(n, rule);
        check_rmsprop<double>(n, rule);
      }
    }
  }
}

TEST_CASE("adagrad_update: with decays of lr and weight, from a sum that is not 0") {
  for (const std::int64_t n : kSizes) {
    const AdagradOptions rule{
        .lr = 0.1, .lr_decay = 0.5, .initial_accumulator = 0.2, .eps = 0.1, .weight_decay = 0.3};
    check_adagrad<float>(n, rule);
    check_adagrad<double>(n, rule);
  }
}

TEST_CASE("average_update: decay * average + (1 - decay) * value") {
  for (const std::int64_t n : kSizes) {
    Rng rng(5);
    const Tensor a = randn({n}, rng, DType::f64), x = randn({n}, rng, DType::f64);
    const std::vector<double> value = as_doubles(x);
    std::vector<double> expected = as_doubles(a);
    for (std::size_t i = 0; i < value.size(); ++i) expected[i] = 0.9 * expected[i] + 0.1 * value[i];
    average_update(a, strided(x), 0.9);
    check_close<double>(a, expected);
  }
  CHECK_THROWS_WITH_AS(average_update(ones({2}), ones({3}), 0.9),
                       "average_update: the value is f32 [3], the average f32 [2]", Error);
}

TEST_CASE("adam_update: a gradient of 0 moves nothing") {
  const Tensor p = ones({4}), m = zeros({4}), v = zeros({4});
  adam_update(p, zeros({4}), m, v, {.lr = 0.1});
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
  CHECK_THROWS_WITH_AS(adam_update(p, good, good, good, {.lr = 1}, 0), contains("got 0"), Error);
  CHECK_THROWS_WITH_AS(adam_update(p, good, {}, good, {}), contains("mean"), Error);
  CHECK_THROWS_WITH_AS(rmsprop_update(p, good, {}, {}, {}, {}), contains("square"), Error);
  CHECK_THROWS_WITH_AS(rmsprop_update(p, good, good, {}, {}, {.centered = true}), contains("mean"),
                       Error);
  CHECK_THROWS_WITH_AS(rmsprop_update(p, good, good, {}, {}, {.momentum = 0.9}),
                       contains("velocity"), Error);
  CHECK_THROWS_WITH_AS(adagrad_update(p, good, {}, {}), contains("sum"), Error);
  CHECK_THROWS_WITH_AS(sgd_update(strided(p), good, {}, {.lr = 1}), contains("contiguous"), Error);
  Tensor x = ones({3});
  x.requires_grad_();
  CHECK_THROWS_WITH_AS(sgd_update(x * 2, good, {}, {.lr = 1}), contains("leaf"), Error);
  CHECK(p.to_vector<float>() == std::vector<float>(3, 1.0F));
}

}  // namespace
}  // namespace gradzoo
