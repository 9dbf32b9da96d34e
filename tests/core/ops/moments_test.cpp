// var, std, logsumexp, norm: cancellation, infinities, overflow, gradients at the kinks.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/ops.h"
#include "core/random.h"
#include "tests/core/ops/compare.h"

namespace gradzoo {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> gradient_of(const std::function<Tensor(const Tensor&)>& f,
                                const Tensor& value) {
  Tensor x = clone(value).requires_grad_();
  sum(f(x)).backward();
  return x.grad().to_vector<double>();
}

// The second derivative of f along (1, …, 1), element by element.
std::vector<double> second_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& value) {
  Tensor x = clone(value).requires_grad_();
  const Tensor first = grad({sum(f(x))}, {x}, {.create_graph = true})[0];
  return grad({sum(first)}, {x}, {.allow_unused = true})[0].to_vector<double>();
}

}  // namespace

TEST_CASE("var: no cancellation for a mean of 1e4 and a spread of 1e-2") {
  const std::vector<float> values = {1e4F, 1e4F + 0.01F, 1e4F - 0.01F, 1e4F + 0.02F};
  double mean = 0, wanted = 0;
  for (float v : values) mean += static_cast<double>(v) / 4;
  for (float v : values) wanted += (v - mean) * (v - mean) / 3;
  const Tensor x = from_vector(values, {4});
  CHECK(var(x).item() == doctest::Approx(wanted).epsilon(1e-6));
  CHECK(std(x).item() == doctest::Approx(std::sqrt(wanted)).epsilon(1e-6));
  CHECK(var(reshape(x, {4, 1}), {0}).item() == doctest::Approx(wanted).epsilon(1e-6));
}

TEST_CASE("var, std: constant rows have none, exactly, and no gradient") {
  const Tensor x = full({3, 5}, 0.1, DType::f64);
  CHECK(var(x, {1}).to_vector<double>() == std::vector<double>(3, 0.0));
  const auto deviation = [](const Tensor& t) { return std(t, {1}); };
  CHECK(gradient_of(deviation, x) == std::vector<double>(15, 0.0));
  CHECK(second_of(deviation, x) == std::vector<double>(15, 0.0));
}

TEST_CASE("var, std: one element has no unbiased spread") {
  CHECK(std::isnan(var(ones({1})).item()));
  CHECK(std::isnan(std(ones({1})).item()));
  CHECK(var(ones({1}), {}, false, 0).item() == 0);
  CHECK(std::isnan(var(zeros({0})).item()));
}

TEST_CASE("var: a correction of its own") {
  const Tensor x = tensor({1, 2, 3, 6}, DType::f64);  // squared distances from 3: 4 + 1 + 0 + 9
  CHECK(var(x, {}, false, 0).item() == doctest::Approx(14.0 / 4).epsilon(1e-14));
  CHECK(var(x).item() == doctest::Approx(14.0 / 3).epsilon(1e-14));
  CHECK(var(x, {}, false, 2).item() == doctest::Approx(14.0 / 2).epsilon(1e-14));
}

TEST_CASE("logsumexp: at ±1e4, and with infinities") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = tensor({{1e4, 1e4}, {-1e4, -1e4}, {0, -kInf}, {kInf, -kInf}}, dtype);
    const Tensor y = to(logsumexp(x, {1}), DType::f64);
    CHECK(y.at({0}) == doctest::Approx(1e4 + std::log(2.0)).epsilon(1e-7));
    CHECK(y.at({1}) == doctest::Approx(-1e4 + std::log(2.0)).epsilon(1e-7));
    CHECK(y.at({2}) == 0);
    CHECK(y.at({3}) == kInf);
    CHECK(std::isnan(logsumexp(tensor({kNaN, 1}, dtype)).item()));
    CHECK(logsumexp(zeros({0}, dtype)).item() == -kInf);
    CHECK(logsumexp(zeros({2, 0}, dtype), {1}).at({1}) == -kInf);
  }
}

TEST_CASE("MSK3: logsumexp of nothing but -inf is -inf with gradient 0") {
  const Tensor x = full({2, 2}, -kInf, DType::f64);
  const auto f = [](const Tensor& t) { return logsumexp(t, {1}); };
  CHECK(f(x).to_vector<double>() == std::vector<double>(2, -kInf));
  CHECK(gradient_of(f, x) == std::vector<double>(4, 0.0));
  CHECK(second_of(f, x) == std::vector<double>(4, 0.0));
}

TEST_CASE("logsumexp: an entry of -inf takes no part") {
  const Tensor x = tensor({-kInf, 1, 1}, DType::f64);
  const std::vector<double> g = gradient_of([](const Tensor& t) { return logsumexp(t); }, x);
  CHECK(g[0] == 0);
  CHECK(g[1] == doctest::Approx(0.5).epsilon(1e-14));
  for (double value : second_of([](const Tensor& t) { return logsumexp(t); }, x)) {
    CHECK(value == doctest::Approx(0).epsilon(1e-14));
  }
}

TEST_CASE("ZER1: the norm of zeros has gradient 0, for every p") {
  for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, kInf}) {
    CAPTURE(p);
    const auto f = [p](const Tensor& t) { return norm(t, {}, false, p); };
    CHECK(gradient_of(f, zeros({1}, DType::f64)) == std::vector<double>(1, 0.0));
    CHECK(gradient_of(f, zeros({3}, DType::f64)) == std::vector<double>(3, 0.0));
    const auto rows = [p](const Tensor& t) { return norm(t, {1}, false, p); };
    const Tensor x = tensor({{0, 0}, {3, 0}}, DType::f64);
    CHECK(gradient_of(rows, x) == std::vector<double>{0, 0, 1, 0});
  }
}

TEST_CASE("ZER9: the square of a norm has gradient and curvature 0 at 0, not NaN") {
  const auto f = [](const Tensor& t) { return square(norm(t)); };
  CHECK(gradient_of(f, zeros({2}, DType::f64)) == std::vector<double>{0, 0});
  for (double value : second_of(f, zeros({2}, DType::f64))) CHECK(std::isfinite(value));
}

TEST_CASE("norm: neither overflow nor underflow on the way") {
  for (const double p : {1.5, 2.0, 3.0, 10.0}) {
    CAPTURE(p);
    const double two = std::pow(2.0, 1 / p);
    const auto of = [p](const Tensor& t) { return norm(t, {}, false, p).item(); };
    CHECK(of(tensor({1e300, -1e300}, DType::f64)) == doctest::Approx(two * 1e300).epsilon(1e-12));
    CHECK(of(tensor({1e-300, -1e-300}, DType::f64)) / 1e-300 ==
          doctest::Approx(two).epsilon(1e-12));
    CHECK(of(tensor({1e38, -1e38})) == doctest::Approx(two * 1e38).epsilon(1e-6));
    CHECK(of(tensor({1e-30, 1e-30})) / 1e-30 == doctest::Approx(two).epsilon(1e-6));
  }
}

TEST_CASE("norm: infinities and NaN") {
  for (const double p : {1.0, 1.5, 2.0, kInf}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      CAPTURE(p);
      CHECK(norm(tensor({1, -kInf}, dtype), {}, false, p).item() == kInf);
      CHECK(std::isnan(norm(tensor({1, kNaN, 2}, dtype), {}, false, p).item()));
      CHECK(norm(zeros({0}, dtype), {}, false, p).item() == 0);
    }
  }
}

TEST_CASE("norm: the largest value shares its gradient with its ties, signs kept") {
  const auto f = [](const Tensor& t) { return norm(t, {}, false, kInf); };
  CHECK(gradient_of(f, tensor({3, -3, 1}, DType::f64)) == std::vector<double>{0.5, -0.5, 0});
}

TEST_CASE("norm: p between the named ones, with a zero among the values") {
  Rng rng(5);
  for (const double p : {0.5, 1.5, 4.0}) {
    CAPTURE(p);
    const auto f = [p](const std::vector<Tensor>& in) { return norm(in[0], {1}, true, p); };
    Tensor x = (rand({3, 4}, rng, DType::f64) + 0.5).detach().requires_grad_();
    const GradcheckResult first = gradcheck(f, {x});
    CHECK_MESSAGE(first.ok, first.report);
    const GradcheckResult second = gradgradcheck(f, {x});
    CHECK_MESSAGE(second.ok, second.report);
  }
  const auto cubed = [](const Tensor& t) { return norm(t, {}, false, 3); };
  for (double value : second_of(cubed, tensor({0, 1, 2}, DType::f64))) CHECK(std::isfinite(value));
}

TEST_CASE("norm: p must be positive") {
  CHECK_THROWS_WITH_AS(norm(ones({2}), {}, false, 0), "norm: p must be positive, got 0", Error);
  CHECK_THROWS_AS(norm(ones({2}), {}, false, kNaN), Error);
}

TEST_CASE("var, logsumexp, norm: the same bits with 1, 2 and 3 threads") {
  Rng rng(3);
  const Tensor x = randn({300, 700}, rng, DType::f64);  // f32 would round the differences away
  for (const Shape& axes : {Shape{}, Shape{0}, Shape{1}}) {
    CHECK(test::same_for_any_threads([&] {
      return std::vector<Tensor>{var(x, axes), logsumexp(x, axes), norm(x, axes), std(x, axes),
                                 norm(x, axes, false, 3)};
    }));
  }
}

}  // namespace gradzoo
