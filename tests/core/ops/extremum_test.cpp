// max, min, argmax, argmin: NaN, infinities, ties, integers, empty tensors.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/create.h"
#include "core/ops.h"
#include "core/random.h"
#include "tests/core/ops/compare.h"

namespace gradzoo {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The gradient of op(x, axes) with these upstream numbers.
std::vector<double> gradient_of(Tensor (*op)(const Tensor&, const Shape&, bool),
                                const Tensor& value, const Shape& axes, const Tensor& upstream) {
  Tensor x = clone(value).requires_grad_();
  op(x, axes, false).backward(upstream);
  return x.grad().to_vector<double>();
}

}  // namespace

TEST_CASE("max, min: NaN propagates from any place, in rows and in columns") {
  for (const std::int64_t n : {1, 2, 7, 8, 9, 31, 32, 33, 64, 65}) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::vector<float> values(static_cast<std::size_t>(n), 1.0F);
      values[static_cast<std::size_t>(k)] = std::numeric_limits<float>::quiet_NaN();
      const Tensor row = from_vector(values, {n});
      CAPTURE(n);
      CAPTURE(k);
      CHECK(std::isnan(max(row).item()));
      CHECK(std::isnan(min(row).item()));
      CHECK(argmax(row).item() == static_cast<double>(k));
      CHECK(argmin(row).item() == static_cast<double>(k));
      const Tensor columns = concat({reshape(row, {n, 1}), ones({n, 2})}, 1);
      CHECK(std::isnan(max(columns, {0}).at({0})));
      CHECK(max(columns, {0}).at({1}) == 1);
      CHECK(std::isnan(min(columns, {0}).at({0})));
      CHECK(argmax(columns, 0).at({0}) == static_cast<double>(k));
    }
  }
}

TEST_CASE("max, min: the extremum is found in any place") {
  for (const std::int64_t n : {1, 8, 31, 33, 64, 70}) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::vector<double> values(static_cast<std::size_t>(n), -3.0);
      values[static_cast<std::size_t>(k)] = -2;
      const Tensor x = from_vector(values, {n});
      CHECK(max(x).item() == -2);
      CHECK(argmax(x).item() == static_cast<double>(k));
      CHECK(min(neg(x)).item() == 2);
      CHECK(argmin(neg(x)).item() == static_cast<double>(k));
    }
  }
}

TEST_CASE("max, min: i64 beyond what f64 holds, and the ends of its range") {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  const Tensor x = from_vector<std::int64_t>({big - 1, big, INT64_MIN, 5}, {4});
  CHECK(max(x).to_vector<std::int64_t>()[0] == big);
  CHECK(argmax(x).item() == 1);
  CHECK(min(x).to_vector<std::int64_t>()[0] == INT64_MIN);
  CHECK(argmin(x).item() == 2);
}

TEST_CASE("argmax, argmin: ties give the lower index") {
  CHECK(argmax(tensor({1, 3, 3, 2, 3})).item() == 1);
  CHECK(argmin(tensor({2, 1, 3, 1})).item() == 1);
  CHECK(argmax(zeros({100})).item() == 0);
  const Tensor x = tensor({{1, 5, 2}, {5, 5, 1}});
  CHECK(argmax(x, 0).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0, 0});
  CHECK(argmax(x, -1).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0});
  CHECK(argmax(x, 1, true).shape() == Shape{2, 1});
  CHECK(argmax(full({3}, -kInf)).item() == 0);
  CHECK(argmin(full({3}, kInf)).item() == 0);
}

TEST_CASE("argmax: without an axis the position is row-major, whatever the strides") {
  const Tensor x = transpose(tensor({{1, 2}, {9, 3}, {4, 5}}));  // {{1, 9, 4}, {2, 3, 5}}
  CHECK(argmax(x).item() == 1);
  CHECK(argmin(slice(x, 1, 1, kEnd)).item() == 2);
}

TEST_CASE("max, min: ties share the gradient evenly") {
  const Tensor x = tensor({{1, 4, 4}, {4, 0, 2}}, DType::f64);
  const Tensor one = scalar(6, DType::f64);
  CHECK(gradient_of(max, x, {}, one) == std::vector<double>{0, 2, 2, 2, 0, 0});
  const Tensor rows = tensor({2, 3}, DType::f64);
  CHECK(gradient_of(max, x, {1}, rows) == std::vector<double>{0, 1, 1, 3, 0, 0});
  const Tensor columns = tensor({1, 2, 4}, DType::f64);
  CHECK(gradient_of(min, x, {0}, columns) == std::vector<double>{1, 0, 0, 0, 2, 4});
}

TEST_CASE("max: a NaN takes the gradient") {
  const Tensor x = tensor({1, kNaN, 2}, DType::f64);
  CHECK(gradient_of(max, x, {}, scalar(1, DType::f64)) == std::vector<double>{0, 1, 0});
}

TEST_CASE("max, min, argmax, argmin: of nothing is an error, nothing of nothing is not") {
  CHECK_THROWS_WITH_AS(max(zeros({0})), "max: nothing to choose from, the shape is [0]", Error);
  CHECK_THROWS_WITH_AS(min(zeros({2, 0}), {1}), "min: nothing to choose from, the shape is [2, 0]",
                       Error);
  CHECK_THROWS_AS(argmax(zeros({0})), Error);
  CHECK_THROWS_AS(argmin(zeros({0, 2}), 0), Error);
  CHECK(max(zeros({0, 3}), {1}).shape() == Shape{0});
  CHECK(argmax(zeros({0, 3}), 1).shape() == Shape{0});
}

TEST_CASE("max, argmax: booleans have no order") {
  CHECK_THROWS_WITH_AS(max(zeros({2}, DType::boolean)),
                       "max: the tensor must hold numbers, got boolean", Error);
}

TEST_CASE("argmax: a position has no gradient") {
  Tensor x = tensor({1, 2}).requires_grad_();
  CHECK_FALSE(argmax(x).requires_grad());
}

TEST_CASE("max, argmax: the same with 1, 2 and 3 threads") {
  Rng rng(3);
  const Tensor x = randn({300, 700}, rng);
  CHECK(test::same_for_any_threads([&] {
    return std::vector<Tensor>{max(x, {1}), max(x, {0}), argmax(x, 0), max(x)};
  }));
}

}  // namespace gradzoo
