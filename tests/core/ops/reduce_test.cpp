// sum, mean, sum_to, any, all: layouts, precision, threads.
#include <doctest/doctest.h>

#include <cmath>

#include "core/create.h"
#include "core/ops.h"
#include "core/threads.h"

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

TEST_CASE("SUM1, SUM3: float sums keep their digits on every axis layout") {
  CHECK(mean(ones({20000000, 2}), {0}).at({0}) == 1.0);
  CHECK(sum(full({2, 10000000}, 0.1), {1}).at({1}) ==
        doctest::Approx(10000000 * static_cast<double>(0.1F)).epsilon(1e-6));
  CHECK(sum(full({5, 68, 64, 64}, 0.1)).item() * 10 == doctest::Approx(1392640).epsilon(1e-6));
}

}  // namespace gradzoo
