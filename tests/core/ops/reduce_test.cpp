// sum, mean, sum_to, any, all: layouts, precision, threads.
#include <doctest/doctest.h>

#include <cmath>

#include "core/create.h"
#include "core/ops.h"
#include "core/random.h"
#include "tests/core/ops/compare.h"

namespace gradzoo {
namespace {

// Numbers that are not alike: k-th of a fixed irregular sequence in [-1, 1).
Tensor numbers(const Shape& shape) {
  const Tensor x = empty(shape, DType::f64);
  double* values = mutable_data<double>(x);
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    values[k] = std::fmod(static_cast<double>(k) * 0.7548776662466927 + 0.1, 1.0) * 2 - 1;
  }
  return x;
}

// The sum by plain loops: elements of x whose index, with 0 for the reduced axes, is that of y.
std::vector<double> plain_sum(const Tensor& x, const std::vector<bool>& reduced) {
  std::int64_t outputs = 1;
  for (int i = 0; i < x.dim(); ++i) outputs *= reduced[static_cast<std::size_t>(i)] ? 1 : x.size(i);
  std::vector<double> y(static_cast<std::size_t>(outputs), 0.0);
  const std::vector<double> values = x.to_vector<double>();
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    std::int64_t rest = k, place = 0, step = 1;
    for (int i = x.dim() - 1; i >= 0; --i) {
      const std::int64_t index = rest % x.size(i);
      rest /= x.size(i);
      if (reduced[static_cast<std::size_t>(i)]) continue;
      place += index * step;
      step *= x.size(i);
    }
    y[static_cast<std::size_t>(place)] += values[static_cast<std::size_t>(k)];
  }
  return y;
}

void check_near(const Tensor& got, const std::vector<double>& wanted) {
  const std::vector<double> values = got.to_vector<double>();
  REQUIRE(values.size() == wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(values[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("sum: every set of axes of a rank-4 tensor, around the lane and tile sizes") {
  for (const std::int64_t n : {1, 2, 7, 31, 33, 65}) {
    const Tensor x = numbers({3, n, 2, n + 1});
    for (int mask = 1; mask < 16; ++mask) {
      Shape axes;
      std::vector<bool> reduced(4, false);
      for (int i = 0; i < 4; ++i) {
        if ((mask >> i & 1) == 0) continue;
        axes.push_back(i % 2 == 0 ? i : i - 4);
        reduced[static_cast<std::size_t>(i)] = true;
      }
      CAPTURE(n);
      CAPTURE(mask);
      check_near(sum(x, axes), plain_sum(x, reduced));
    }
  }
}

TEST_CASE("sum: a narrower or wider view than the tiles, from strided memory") {
  for (const std::int64_t n : {8, 15, 255, 256, 257, 600}) {
    const Tensor x = numbers({9, n});
    const Tensor every_second = slice(numbers({9, 2 * n}), 1, 1, kEnd, 2);
    const Tensor repeated = expand(numbers({1, n}), {9, n});
    for (const Tensor& t : {x, transpose(transpose(x)), every_second, repeated}) {
      CAPTURE(n);
      check_near(sum(t, {0}), plain_sum(t, {true, false}));
      check_near(sum(t, {1}), plain_sum(t, {false, true}));
      check_near(sum(transpose(t), {0}), plain_sum(t, {false, true}));
      check_near(sum(transpose(t), {1}), plain_sum(t, {true, false}));
      check_near(sum(transpose(t)), plain_sum(t, {true, true}));
    }
  }
}

TEST_CASE("sum: shapes with and without keepdim, scalars, nothing to reduce") {
  const Tensor x = ones({2, 3, 4});
  CHECK(sum(x).shape() == Shape{});
  CHECK(sum(x, {}, true).shape() == Shape{1, 1, 1});
  CHECK(sum(x, {1}).shape() == Shape{2, 4});
  CHECK(sum(x, {-1, 0}).shape() == Shape{3});
  CHECK(sum(x, {-1, 0}, true).shape() == Shape{1, 3, 1});
  CHECK(sum(scalar(5)).item() == 5);
  CHECK(sum(ones({1, 1}), {0}).shape() == Shape{1});
}

TEST_CASE("sum: integers exactly, booleans counted, empty is 0") {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;  // no f64 holds it
  CHECK(sum(from_vector<std::int64_t>({big, 2, 3}, {3})).to_vector<std::int64_t>()[0] == big + 5);
  const Tensor hits = sum(from_vector<bool>({true, false, true}, {3}));
  CHECK(hits.dtype() == DType::i64);
  CHECK(hits.item() == 2);
  CHECK(sum(zeros({0})).item() == 0);
  CHECK(sum(zeros({0, 3}), {0}).to_vector<float>() == std::vector<float>(3, 0.0F));
  CHECK(sum(zeros({0, 3}), {1}).shape() == Shape{0});
}

TEST_CASE("mean: empty is NaN; integers have none") {
  CHECK(std::isnan(mean(zeros({0})).item()));
  CHECK(std::isnan(mean(zeros({2, 0}), {1}).at({1})));
  CHECK_THROWS_WITH_AS(mean(zeros({2}, DType::i64)), "mean: the tensor must be f32 or f64, got i64",
                       Error);
}

TEST_CASE("reductions: wrong axes are errors naming op and axis") {
  CHECK_THROWS_WITH_AS(sum(ones({2, 3}), {2}),
                       "sum: axis 2 is out of range for a tensor with 2 axes", Error);
  CHECK_THROWS_WITH_AS(mean(ones({2, 3}), {1, -1}), "mean: axis -1 is given twice", Error);
}

TEST_CASE("SUM1, SUM3: float sums keep their digits on every axis layout") {
  CHECK(mean(ones({20000000, 2}), {0}).at({0}) == 1.0);
  CHECK(sum(full({2, 10000000}, 0.1), {1}).at({1}) ==
        doctest::Approx(10000000 * static_cast<double>(0.1F)).epsilon(1e-6));
  CHECK(sum(full({5, 68, 64, 64}, 0.1)).item() * 10 == doctest::Approx(1392640).epsilon(1e-6));
}

TEST_CASE("sum: large values do not overflow on the way") {
  CHECK(sum(from_vector<float>({3e38F, 3e38F, -3e38F, -3e38F}, {4})).item() == 0);
  CHECK(mean(full({1000}, 3e38)).item() == doctest::Approx(3e38).epsilon(1e-6));
}

TEST_CASE("sum, mean: the same bits with 1, 2 and 3 threads") {
  Rng rng(2);
  const Tensor x = randn({700, 1300}, rng, DType::f64);  // f32 would round differences away
  CHECK(test::same_for_any_threads([&] {
    return std::vector<Tensor>{sum(x),
                               sum(transpose(x)),
                               sum(x, {0}),
                               sum(x, {1}),
                               mean(x, {0}),
                               sum(slice(x, 1, 3, 7), {0}),
                               sum(reshape(x, {7, 100, 1300}), {0, 2})};
  }));
}

TEST_CASE("sum, mean: the gradient is spread over the reduced axes") {
  Tensor x = numbers({2, 3, 2}).requires_grad_();
  sum(x, {0, 2}).backward(tensor({1, 2, 3}, DType::f64));
  const std::vector<double> wanted = {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3};
  CHECK(x.grad().to_vector<double>() == wanted);
  x.zero_grad();
  mean(x, {1}, true).backward(tensor({{{3, 6}}, {{9, 12}}}, DType::f64));
  const std::vector<double> thirds = {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4};
  CHECK(x.grad().to_vector<double>() == thirds);
}

TEST_CASE("BRD6: the gradient of a mean over several axes has the input's shape") {
  Tensor x = ones({2, 3, 4}, DType::f64).requires_grad_();
  sum(mean(x, {1, 2})).backward();
  CHECK(x.grad().shape() == Shape{2, 3, 4});
  CHECK(x.grad().to_vector<double>() == std::vector<double>(24, 1.0 / 12));
}

TEST_CASE("BRD5: sum_to reduces leading and stretched axes together") {
  const Tensor x = numbers({5, 2, 3});
  const Tensor row = sum_to(x, {1, 3});
  CHECK(row.shape() == Shape{1, 3});
  check_near(row, plain_sum(x, {true, true, false}));
  const Tensor column = sum_to(x, {2, 1});
  CHECK(column.shape() == Shape{2, 1});
  check_near(column, plain_sum(x, {true, false, true}));
}

TEST_CASE("BRD3: sum_to over an inner axis of extent 1") {
  const Tensor x = numbers({2, 1, 4, 64});
  const Tensor y = sum_to(x, {2, 1, 4, 1});
  CHECK(y.shape() == Shape{2, 1, 4, 1});
  check_near(y, plain_sum(x, {false, false, false, true}));
}

TEST_CASE("EMP3: sum_to of an empty tensor gives zeros") {
  const Tensor y = sum_to(zeros({4, 0}, DType::f64), {4, 1});
  CHECK(y.shape() == Shape{4, 1});
  CHECK(y.to_vector<double>() == std::vector<double>(4, 0.0));
}

TEST_CASE("sum_to: the tensor itself when the shapes are equal, its own gradient an expansion") {
  const Tensor x = numbers({2, 3});
  CHECK(sum_to(x, {2, 3}).impl_ptr() == x.impl_ptr());
  Tensor leaf = numbers({2, 3}).requires_grad_();
  sum_to(leaf, {3}).backward(tensor({1, 2, 3}, DType::f64));
  CHECK(leaf.grad().to_vector<double>() == std::vector<double>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("sum_to: a shape that does not broadcast to the tensor's is an error") {
  CHECK_THROWS_WITH_AS(sum_to(ones({2, 3}), {2}),
                       "sum_to: [2] is not a shape that broadcasts to [2, 3]", Error);
  CHECK_THROWS_AS(sum_to(ones({3}), {2, 3}), Error);
  CHECK_THROWS_AS(sum_to(ones({1}), {3}), Error);
}

TEST_CASE("any, all: of nothing; only for booleans") {
  CHECK(any(zeros({0}, DType::boolean)).item() == 0);
  CHECK(all(zeros({0}, DType::boolean)).item() == 1);
  CHECK_THROWS_WITH_AS(any(ones({2})), "any: the tensor must be boolean, got f32", Error);
  CHECK_THROWS_WITH_AS(all(ones({2}, DType::i64)), "all: the tensor must be boolean, got i64",
                       Error);
}

TEST_CASE("any, all: one element decides, wherever it is") {
  for (const std::int64_t n : {1, 7, 31, 32, 33, 100}) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::vector<bool> values(static_cast<std::size_t>(n), false);
      values[static_cast<std::size_t>(k)] = true;
      CHECK(any(from_vector(values, {n})).item() == 1);
      CHECK(all(from_vector(values, {n})).item() == (n == 1 ? 1 : 0));
      values.flip();
      CHECK(all(from_vector(values, {n})).item() == 0);
    }
  }
}

}  // namespace gradzoo
