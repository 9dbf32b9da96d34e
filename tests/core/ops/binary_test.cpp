// Arithmetic of two tensors: broadcasting and its adjoint, ties, gradients at 0, integers.
#include "core/ops/binary.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

using namespace gradzoo;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

struct Case {
  std::string name;
  Function op;
  std::function<double(double, double)> value;
};

std::vector<Case> cases() {
  using T = const Tensor&;
  return {
      {"add", [](T a, T b) { return a + b; }, [](double a, double b) { return a + b; }},
      {"sub", [](T a, T b) { return a - b; }, [](double a, double b) { return a - b; }},
      {"mul", [](T a, T b) { return a * b; }, [](double a, double b) { return a * b; }},
      {"div", [](T a, T b) { return a / b; }, [](double a, double b) { return a / b; }},
      {"pow", [](T a, T b) { return pow(a, b); },
       [](double a, double b) { return std::pow(a, b); }},
      {"maximum", [](T a, T b) { return maximum(a, b); },
       [](double a, double b) { return std::max(a, b); }},
      {"minimum", [](T a, T b) { return minimum(a, b); },
       [](double a, double b) { return std::min(a, b); }},
  };
}

// Positive values without ties between different seeds.
template <class T>
Tensor positive(const Shape& shape, double seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    values.push_back(
        static_cast<T>(0.3 + 2 * std::fmod(seed + 0.6180339887 * static_cast<double>(i), 1.0)));
  }
  return from_vector(values, shape);
}

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return tensor(values, dtype).requires_grad_();
}

using V = std::vector<double>;

// Gradients of sum(f(a, b)).
std::pair<V, V> slopes(const Function& f, const Nested& a, const Nested& b) {
  const Tensor x = leaf(a), y = leaf(b);
  sum(f(x, y)).backward();
  return {x.grad().to_vector<double>(), y.grad().to_vector<double>()};
}

template <class T>
void check_lengths(const Case& c) {
  for (std::int64_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 16383, 16385}) {
    const Tensor a = positive<T>({n}, 0.1), b = positive<T>({n}, 0.7);
    const Tensor both = c.op(a, b);
    const Tensor left = c.op(positive<T>({1}, 0.4), b), right = c.op(a, positive<T>({}, 0.4));
    const double one = positive<T>({1}, 0.4).item();
    const auto u = a.template to_vector<T>(), v = b.template to_vector<T>();
    const auto yb = both.template to_vector<T>(), yl = left.template to_vector<T>(),
               yr = right.template to_vector<T>();
    REQUIRE(yb.size() == u.size());
    double worst = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      worst = std::max(worst, std::abs(yb[i] / c.value(u[i], v[i]) - 1));
      worst = std::max(worst, std::abs(yl[i] / c.value(one, v[i]) - 1));
      worst = std::max(worst, std::abs(yr[i] / c.value(u[i], one) - 1));
    }
    CHECK(worst <= 4 * std::numeric_limits<T>::epsilon());
  }
}

}  // namespace

TEST_CASE("binary: every length around the vector widths, either side a number") {
  for (const Case& c : cases()) {
    if (c.name == "sub") continue;  // cancels: relative errors say nothing; exact below
    CAPTURE(c.name);
    check_lengths<float>(c);
    check_lengths<double>(c);
  }
  CHECK((tensor({3, 5}) - tensor({1, 8})).to_vector<float>() == std::vector<float>{2, -3});
}

TEST_CASE("binary: broadcasting in every pattern equals plain indexing") {
  const std::pair<Shape, Shape> shapes[] = {
      {{2, 3}, {3}}, {{3, 1}, {1, 4}},       {{2, 1, 3}, {4, 1}}, {{}, {2, 2}},
      {{1, 1}, {1}}, {{2, 3, 4}, {2, 1, 4}}, {{0, 3}, {1, 3}},    {{2, 0}, {1}}};
  for (const Case& c : cases()) {
    for (const auto& pair : shapes) {
      const Shape& sa = pair.first;
      const Shape& sb = pair.second;
      CAPTURE(c.name + to_string(sa) + to_string(sb));
      const Tensor a = positive<double>(sa, 0.1), b = positive<double>(sb, 0.7);
      const Tensor y = c.op(a, b);
      REQUIRE(y.shape() == broadcast_shapes("test", sa, sb));
      const auto u = expand(a, y.shape()).to_vector<double>();
      const auto v = expand(b, y.shape()).to_vector<double>();
      const auto out = y.to_vector<double>();
      for (std::size_t i = 0; i < out.size(); ++i) {
        CHECK(out[i] == doctest::Approx(c.value(u[i], v[i])).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("binary: gradients of first and second order under broadcasting and strides") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const auto f = [&](const std::vector<Tensor>& in) {
      return c.op(transpose(in[0], 0, 1), in[1]);
    };
    const std::vector<Tensor> inputs = {positive<double>({3, 2}, 0.1).requires_grad_(),
                                        positive<double>({4, 1, 3}, 0.7).requires_grad_()};
    const GradcheckResult first = gradcheck(f, inputs);
    CHECK_MESSAGE(first, first.report);
    const GradcheckResult second = gradgradcheck(f, inputs);
    CHECK_MESSAGE(second, second.report);
  }
}

TEST_CASE("binary: only the operand that wants a gradient is kept from being overwritten") {
  const Tensor x = leaf({1, 2});
  const Tensor factor = tensor({3, 4}, DType::f64);
  const Tensor y = sum(x * factor);
  assign(x, tensor({5, 6}, DType::f64));  // x itself is not needed for dy/dx
  y.backward();
  CHECK(x.grad().to_vector<double>() == V{3, 4});
}

TEST_CASE("TIE1, TIE3: a tie of maximum or minimum shares one gradient") {
  const Function larger = [](auto& a, auto& b) { return maximum(a, b); };
  const Function smaller = [](auto& a, auto& b) { return minimum(a, b); };
  CHECK(slopes(larger, {1, 2, 5}, {1, 3, 4}) == std::pair{V{0.5, 0, 1}, V{0.5, 1, 0}});
  CHECK(slopes(smaller, {1, 2, 5}, {1, 3, 4}) == std::pair{V{0.5, 1, 0}, V{0.5, 0, 1}});
  const Tensor x = leaf({2, -3});
  sum(minimum(x, x)).backward();
  CHECK(x.grad().to_vector<double>() == V{1, 1});
}

TEST_CASE("binary: NaN on either side wins maximum and minimum") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor a = tensor({kNaN, 1, kNaN, -kInf}, dtype),
                 b = tensor({1, kNaN, kNaN, kInf}, dtype);
    for (std::int64_t i = 0; i < 3; ++i) {
      CHECK(std::isnan(maximum(a, b).at({i})));
      CHECK(std::isnan(minimum(a, b).at({i})));
    }
    CHECK(maximum(a, b).at({3}) == kInf);
    CHECK(minimum(a, b).at({3}) == -kInf);
  }
}

TEST_CASE("ZER2: the gradient of x^0 at 0 is 0, of a number and of a tensor exponent") {
  const Tensor x = leaf({0, 1});
  sum(pow(x, 0)).backward();
  CHECK(x.grad().to_vector<double>() == V{0, 0});
  const auto [dx, dn] = slopes([](auto& a, auto& b) { return pow(a, b); }, {0, 1, kInf}, {0, 0, 0});
  CHECK(dx == V{0, 0, 0});
  CHECK(dn[0] == 0);
}

TEST_CASE("ZER4: the gradient of a square at 0 is 0") {
  const Tensor p = leaf({0});
  const Tensor loss = sum(pow(p - tensor({0}, DType::f64), 2));
  loss.backward();
  CHECK(loss.item() == 0);
  CHECK(p.grad().item() == 0);
  const Tensor x = leaf({0});
  const Tensor first = grad({sum(pow(x, 2))}, {x}, {.create_graph = true})[0];
  CHECK(grad({sum(first)}, {x})[0].item() == 2);
}

TEST_CASE("binary: pow at 0 follows the limits of its formula") {
  const auto [dx, dn] =
      slopes([](auto& a, auto& b) { return pow(a, b); }, {0, 0, 0, 2}, {1, 2, 0.5, 0});
  CHECK(dx == V{1, 0, kInf, 0});
  CHECK(dn[0] == 0);
  CHECK(dn[1] == 0);
  CHECK(dn[2] == 0);
  CHECK(dn[3] == doctest::Approx(std::log(2)));
  const Tensor x = leaf({0});
  sum(pow(x, -1)).backward();
  CHECK(x.grad().item() == -kInf);
  CHECK(pow(tensor({-2, 3}), 3).to_vector<float>() == std::vector<float>{-8, 27});
  CHECK(pow(tensor({-2, 3}), -2).to_vector<float>() == std::vector<float>{0.25f, 1 / 9.f});
  CHECK(std::isnan(pow(tensor({-2}), 0.5).item()));
}

TEST_CASE("BRD1: the gradient of a bias (1,3) against (2,3) keeps its shape") {
  const Tensor product = tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64);
  const Tensor bias = leaf({{0.5, -1, 2}});
  const Tensor label = tensor({{1}, {-2}}, DType::f64);
  sum(square(product + bias - label)).backward();
  CHECK(bias.grad().shape() == Shape{1, 3});
  CHECK(bias.grad().to_vector<double>() == V{14, 12, 28});
}

TEST_CASE("BRD3: an inner axis of extent 1 is reduced in the gradient") {
  const Tensor h = positive<double>({2, 1, 4, 64}, 0.3);
  const Tensor mask = positive<double>({2, 1, 4, 1}, 0.9).requires_grad_();
  sum(h * mask).backward();
  REQUIRE(mask.grad().shape() == Shape{2, 1, 4, 1});
  const auto values = h.to_vector<double>();
  for (std::size_t row = 0; row < 8; ++row) {
    double want = 0;
    for (std::size_t i = 0; i < 64; ++i) want += values[64 * row + i];
    CHECK(mask.grad().to_vector<double>()[row] == doctest::Approx(want));
  }
}

TEST_CASE("EMP3: a vector against an empty tensor gets a gradient of zeros") {
  const Tensor b = leaf({1, 2, 3, 4});
  sum(zeros({4, 0}, DType::f64) + unsqueeze(b, 1)).backward();
  CHECK(b.grad().to_vector<double>() == V{0, 0, 0, 0});
}

TEST_CASE("binary: integers wrap and truncate, and division by 0 is an error") {
  using I = std::vector<std::int64_t>;
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Tensor a = from_vector<std::int64_t>({7, -7, least}, {3});
  const Tensor b = from_vector<std::int64_t>({2, 2, -1}, {3});
  CHECK((a / b).to_vector<std::int64_t>() == I{3, -3, least});
  CHECK((a + b).to_vector<std::int64_t>() == I{9, -5, std::numeric_limits<std::int64_t>::max()});
  CHECK((a * b).to_vector<std::int64_t>() == I{14, -14, least});
  CHECK((a - 1).to_vector<std::int64_t>()[2] == std::numeric_limits<std::int64_t>::max());
  CHECK(maximum(a, b).to_vector<std::int64_t>() == I{7, 2, -1});
  CHECK_THROWS_WITH_AS(a / tensor({1, 0, 2}, DType::i64), "div: division of integers by 0", Error);
  CHECK_THROWS_AS(a / 0, Error);
  CHECK((zeros({0}, DType::i64) / 0).numel() == 0);
}

TEST_CASE("binary: numbers take the tensor's dtype, from either side") {
  const Tensor x = tensor({1, 4}, DType::f64);
  CHECK((x + 0.5).to_vector<double>() == V{1.5, 4.5});
  CHECK((0.5 + x).to_vector<double>() == V{1.5, 4.5});
  CHECK((x - 3).to_vector<double>() == V{-2, 1});
  CHECK((3 - x).to_vector<double>() == V{2, -1});
  CHECK((x * 2).to_vector<double>() == V{2, 8});
  CHECK((2 * x).to_vector<double>() == V{2, 8});
  CHECK((x / 2).to_vector<double>() == V{0.5, 2});
  CHECK((2 / x).to_vector<double>() == V{2, 0.5});
  CHECK((tensor({1}) * 2).dtype() == DType::f32);
  CHECK((tensor({1}, DType::i64) * 2).dtype() == DType::i64);
  CHECK_THROWS_WITH_AS(tensor({1}, DType::i64) * 0.5, "mul: 0.5 cannot be held by a tensor of i64",
                       Error);
  CHECK_THROWS_AS(tensor({1}, DType::i64) + 1e300, Error);
  CHECK_THROWS_AS(tensor({1}, DType::i64) + kNaN, Error);
}

TEST_CASE("binary: what does not fit together is named") {
  CHECK_THROWS_WITH_AS(zeros({2}) + zeros({2}, DType::f64),
                       "add: the dtypes must be equal, got f32 and f64", Error);
  CHECK_THROWS_WITH_AS(mul(zeros({2, 3}), zeros({4})),
                       "mul: shapes [2, 3] and [4] cannot be broadcast together", Error);
  CHECK_THROWS_WITH_AS(add(zeros({1}, DType::boolean), zeros({1}, DType::boolean)),
                       "add: the tensor must hold numbers, got boolean", Error);
  CHECK_THROWS_AS(pow(zeros({1}, DType::i64), 2), Error);
}
