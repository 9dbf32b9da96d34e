// Elementwise functions of one tensor: values where f32 is hard, kinks, infinities and NaN, fused
// backward against its formula.
#include "core/ops/unary.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"

using namespace gradzoo;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Function = std::function<Tensor(const Tensor&)>;

struct Case {
  std::string name;
  Function op;
  std::function<double(double)> value;
  double low, high;  // where to look; positive functions start above 0
  double tolerance;  // in f32, relative
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<Case> smooth_cases() {
  constexpr double k = 0.79788456080286535588;
  return {
      {"neg", [](auto& x) { return neg(x); }, [](double x) { return -x; }, -9, 9, 0},
      {"exp", [](auto& x) { return exp(x); }, [](double x) { return std::exp(x); }, -80, 80, 3e-7},
      {"log", [](auto& x) { return log(x); }, [](double x) { return std::log(x); }, 1e-3, 9, 3e-7},
      {"log1p", [](auto& x) { return log1p(x); }, [](double x) { return std::log1p(x); }, -.9, 9,
       3e-7},
      {"sqrt", [](auto& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, .1, 9, 2e-7},
      {"rsqrt", [](auto& x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, .1, 9,
       2e-7},
      {"square", [](auto& x) { return square(x); }, [](double x) { return x * x; }, -9, 9, 2e-7},
      {"sin", [](auto& x) { return sin(x); }, [](double x) { return std::sin(x); }, -9, 9, 2e-7},
      {"cos", [](auto& x) { return cos(x); }, [](double x) { return std::cos(x); }, -9, 9, 2e-7},
      {"tanh", [](auto& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, -9, 9, 3e-7},
      {"sigmoid", [](auto& x) { return sigmoid(x); }, sigmoid_of, -60, 30, 3e-7},
      {"log_sigmoid", [](auto& x) { return log_sigmoid(x); },
       [](double x) { return std::min(x, 0.) - std::log1p(std::exp(-std::abs(x))); }, -30, 60,
       3e-7},
      {"softplus", [](auto& x) { return softplus(x); },
       [](double x) { return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x))); }, -60, 30,
       3e-7},
      {"silu", [](auto& x) { return silu(x); }, [](double x) { return x * sigmoid_of(x); }, -60, 30,
       4e-7},
      {"gelu", [](auto& x) { return gelu(x); },
       [](double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }, -8, 9, 1e-6},
      {"gelu tanh", [](auto& x) { return gelu(x, Gelu::tanh); },
       [](double x) { return x * sigmoid_of(2 * k * (x + 0.044715 * x * x * x)); }, -5, 9, 5e-6},
      {"reciprocal", [](auto& x) { return reciprocal(x); }, [](double x) { return 1 / x; }, .1, 9,
       2e-7},
  };
}

// n values spread over (low, high), none at a round place.
template <class T>
std::vector<T> spread(std::size_t n, double low, double high) {
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double place = std::fmod(0.137 + 0.6180339887 * static_cast<double>(i), 1.0);
    values.push_back(static_cast<T>(low + (high - low) * place));
  }
  return values;
}

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return tensor(values, dtype).requires_grad_();
}

// dy/dx of sum(y).
std::vector<double> slope(const Function& f, const Nested& at) {
  const Tensor x = leaf(at);
  sum(f(x)).backward();
  return x.grad().to_vector<double>();
}

}  // namespace

TEST_CASE("unary: values of every length around the vector widths, in f32 and f64") {
  for (const Case& c : smooth_cases()) {
    CAPTURE(c.name);
    for (std::size_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 16383, 16385}) {
      CAPTURE(n);
      const auto small = spread<float>(n, c.low, c.high);
      const auto large = spread<double>(n, c.low, c.high);
      const Shape shape{static_cast<std::int64_t>(n)};
      const auto y32 = c.op(from_vector(small, shape)).to_vector<float>();
      const auto y64 = c.op(from_vector(large, shape)).to_vector<double>();
      REQUIRE(y32.size() == n);
      double worst32 = 0, worst64 = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double want32 = c.value(small[i]), want64 = c.value(large[i]);
        worst32 = std::max(worst32, std::abs(y32[i] / want32 - 1));
        worst64 = std::max(worst64, std::abs(y64[i] / want64 - 1));
      }
      CHECK(worst32 <= c.tolerance);
      CHECK(worst64 <= 2e-14);
    }
  }
}

TEST_CASE("unary: gradients of first and second order, on strided inputs too") {
  for (const Case& c : smooth_cases()) {
    CAPTURE(c.name);
    const double low = std::max(c.low, -3.0), high = std::min(c.high, 3.0);
    const Tensor x = from_vector(spread<double>(15, low, high), {3, 5}).requires_grad_();
    const auto f = [&](const std::vector<Tensor>& in) { return c.op(transpose(in[0], 0, 1)); };
    const GradcheckResult first = gradcheck(f, {x});
    CHECK_MESSAGE(first, first.report);
    const GradcheckResult second = gradgradcheck(f, {x});
    CHECK_MESSAGE(second, second.report);
  }
}

namespace {

template <class T>
void check_fused_backward(const Case& c, double tolerance) {
  const double low = std::max(c.low, -5.0), high = std::min(c.high, 9.0);
  const Tensor x = from_vector(spread<T>(33, low, high), {33}).requires_grad_();
  const Tensor upstream = from_vector(spread<T>(33, -2, 3), {33});
  const Tensor fused = grad({c.op(x)}, {x}, {.grad_outputs = {upstream}})[0];
  const Tensor composed =
      grad({c.op(x)}, {x}, {.grad_outputs = {upstream}, .create_graph = true})[0];
  for (std::int64_t i = 0; i < 33; ++i) {
    CAPTURE(x.at({i}));
    CHECK(std::abs(fused.at({i}) - composed.at({i})) <=
          tolerance * (1e-2 + std::abs(composed.at({i}))));
  }
}

}  // namespace

TEST_CASE("unary: fused backward equals the formula it stands for") {
  std::vector<Case> cases = smooth_cases();
  cases.push_back({"relu", [](auto& x) { return relu(x); }, {}, -5, 9, 0});
  cases.push_back({"leaky_relu", [](auto& x) { return leaky_relu(x, 0.2); }, {}, -5, 9, 0});
  cases.push_back({"clamp", [](auto& x) { return clamp(x, -1, 2); }, {}, -5, 9, 0});
  for (const Case& c : cases) {
    CAPTURE(c.name);
    check_fused_backward<float>(c, 1e-5);
    check_fused_backward<double>(c, 1e-13);
  }
}

TEST_CASE("unary: piecewise functions on both sides of their kinks") {
  const Nested at = {-2, -0.5, 0, 0.5, 2};
  const auto values = [&](const Function& f) { return f(tensor(at, DType::f64)); };
  using V = std::vector<double>;
  CHECK(values([](auto& x) { return abs(x); }).to_vector<double>() == V{2, 0.5, 0, 0.5, 2});
  CHECK(slope([](auto& x) { return abs(x); }, at) == V{-1, -1, 0, 1, 1});
  CHECK(values([](auto& x) { return leaky_relu(x, 0.25); }).to_vector<double>() ==
        V{-0.5, -0.125, 0, 0.5, 2});
  CHECK(slope([](auto& x) { return leaky_relu(x, 0.25); }, at) == V{0.25, 0.25, 0.25, 1, 1});
  CHECK(values([](auto& x) { return sign(x); }).to_vector<double>() == V{-1, -1, 0, 1, 1});
  CHECK(values([](auto& x) { return floor(x); }).to_vector<double>() == V{-2, -1, 0, 0, 2});
}

TEST_CASE("TIE5, TIE7: relu passes nothing at 0, clamp passes the gradient at its bounds") {
  using V = std::vector<double>;
  CHECK(slope([](auto& x) { return relu(x); }, {-1, 0, -0.0, 1}) == V{0, 0, 0, 1});
  CHECK(slope([](auto& x) { return clamp(x, 0, 6); }, {-1, 0, 3, 6, 7}) == V{0, 1, 1, 1, 0});
  const Tensor y = clamp(tensor({-1, 0, 3, 6, 7}), 0, 6);
  CHECK(y.to_vector<float>() == std::vector<float>{0, 0, 3, 6, 6});
  CHECK_THROWS_WITH_AS(clamp(tensor({1}), 2, 1), "clamp: low must not be above high, got 2 and 1",
                       Error);
  CHECK_THROWS_AS(clamp(tensor({1}), kNaN, 1), Error);
}

TEST_CASE("unary: the gradient of sqrt at 0 is infinite, and 0 where nobody asks for it") {
  CHECK(slope([](auto& x) { return sqrt(x); }, {0, 4}) == std::vector<double>{kInf, 0.25});
  for (const bool create_graph : {false, true}) {
    const Tensor x = leaf({0, 4});
    const Tensor dx =
        grad({sqrt(x)}, {x},
             {.grad_outputs = {tensor({0, 8}, DType::f64)}, .create_graph = create_graph})[0];
    CHECK(dx.to_vector<double>() == std::vector<double>{0, 2});
  }
}

TEST_CASE("GLU1: gelu in f32 is right in the far left tail") {
  const Tensor y = gelu(tensor({-4, -5, -5.5, -6, -8}));
  const double want[] = {-1.2668497e-4, -1.4332579e-6, -1.0444259e-7, -5.9195259e-9,
                         -4.9767685e-15};
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(y.at({i}) == doctest::Approx(want[i]).epsilon(1e-6).scale(0));
  }
}

TEST_CASE("GLU3: the two forms of gelu can be told apart") {
  const Tensor x = tensor({-3}, DType::f64);
  CHECK(gelu(x).at({0}) == doctest::Approx(-0.00404969).epsilon(2e-6).scale(0));
  CHECK(gelu(x, Gelu::tanh).at({0}) == doctest::Approx(-0.00363739).epsilon(2e-6).scale(0));
}

TEST_CASE("SCE9: log_sigmoid does not overflow") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = leaf({-300, 300}, dtype);
    const Tensor y = log_sigmoid(x);
    CHECK(y.at({0}) == -300);
    CHECK(std::abs(y.at({1})) < 1e-37);
    sum(y).backward();
    CHECK(x.grad().at({0}) == 1);
    CHECK(std::abs(x.grad().at({1})) < 1e-37);
  }
}

namespace {

struct Limit {
  std::string name;
  Function op;
  double at_minus, at_plus;        // values at -inf and inf
  double slope_minus, slope_plus;  // gradients there
};

}  // namespace

TEST_CASE("unary: infinities give their limits, NaN stays NaN") {
  const Limit limits[] = {
      {"exp", [](auto& x) { return exp(x); }, 0, kInf, 0, kInf},
      {"tanh", [](auto& x) { return tanh(x); }, -1, 1, 0, 0},
      {"sigmoid", [](auto& x) { return sigmoid(x); }, 0, 1, 0, 0},
      {"log_sigmoid", [](auto& x) { return log_sigmoid(x); }, -kInf, 0, 1, 0},
      {"softplus", [](auto& x) { return softplus(x); }, 0, kInf, 0, 1},
      {"relu", [](auto& x) { return relu(x); }, 0, kInf, 0, 1},
      {"leaky_relu", [](auto& x) { return leaky_relu(x, 0.5); }, -kInf, kInf, 0.5, 1},
      {"silu", [](auto& x) { return silu(x); }, 0, kInf, 0, 1},
      {"gelu", [](auto& x) { return gelu(x); }, 0, kInf, 0, 1},
      {"gelu tanh", [](auto& x) { return gelu(x, Gelu::tanh); }, 0, kInf, 0, 1},
      {"clamp", [](auto& x) { return clamp(x, -2, 3); }, -2, 3, 0, 0},
      {"abs", [](auto& x) { return abs(x); }, kInf, kInf, -1, 1},
  };
  for (const Limit& limit : limits) {
    CAPTURE(limit.name);
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Tensor x = leaf({-kInf, kInf, kNaN, 1}, dtype);
      const Tensor y = limit.op(x);
      sum(y).backward();
      CHECK(y.at({0}) == limit.at_minus);
      CHECK(y.at({1}) == limit.at_plus);
      CHECK(std::isnan(y.at({2})));
      CHECK(x.grad().at({0}) == limit.slope_minus);
      CHECK(x.grad().at({1}) == limit.slope_plus);
    }
  }
}

TEST_CASE("unary: logarithms and roots outside their domains") {
  const Tensor x = tensor({-1, -0.0, 0, kInf, kNaN});
  CHECK(std::isnan(log(x).at({0})));
  CHECK(log(x).at({1}) == -kInf);
  CHECK(log(x).at({2}) == -kInf);
  CHECK(log(x).at({3}) == kInf);
  CHECK(std::isnan(log(x).at({4})));
  CHECK(log1p(x).at({0}) == -kInf);
  CHECK(std::isnan(sqrt(x).at({0})));
  CHECK(rsqrt(x).at({2}) == kInf);
  CHECK(reciprocal(x).at({1}) == -kInf);
  // Denormal numbers, and exp at both ends of the range.
  CHECK(log(tensor({1e-40})).at({0}) == doctest::Approx(-92.1034));
  CHECK(log(tensor({5e-324}, DType::f64)).at({0}) == doctest::Approx(-744.4400719213812));
  CHECK(exp(tensor({88.7})).at({0}) == doctest::Approx(3.32597e38).epsilon(1e-4));
  CHECK(exp(tensor({88.8})).at({0}) == kInf);
  CHECK(exp(tensor({-200})).at({0}) == 0);
}

TEST_CASE("unary: tiny arguments keep their relative accuracy") {
  const double tiny = static_cast<float>(1e-6);
  CHECK(tanh(tensor({tiny, -0.0})).at({0}) == doctest::Approx(tiny).epsilon(2e-7).scale(0));
  CHECK(std::signbit(tanh(tensor({tiny, -0.0})).at({1})));
  CHECK(log1p(tensor({tiny})).at({0}) == doctest::Approx(tiny).epsilon(1e-6).scale(0));
  CHECK(softplus(tensor({-20})).at({0}) == doctest::Approx(2.0611536e-9).epsilon(1e-6).scale(0));
}

TEST_CASE("unary: sign and floor refuse to be differentiated") {
  const Tensor x = leaf({-1.5, 2});
  CHECK_THROWS_WITH_AS(
      sum(floor(x)).backward(),
      "backward of 'floor': this op has no gradient; detach() its input if that is meant", Error);
  CHECK_THROWS_AS(sum(sign(x)).backward(), Error);
}

TEST_CASE("unary: dtypes") {
  const Tensor ids = tensor({1, -2, 0}, DType::i64);
  CHECK((-ids).to_vector<std::int64_t>() == std::vector<std::int64_t>{-1, 2, 0});
  CHECK_THROWS_WITH_AS(exp(ids), "exp: the tensor must be f32 or f64, got i64", Error);
  CHECK_THROWS_AS(neg(tensor({1, 0}, DType::boolean)), Error);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  CHECK(neg(from_vector<std::int64_t>({least}, {1})).to_vector<std::int64_t>()[0] == least);
}
