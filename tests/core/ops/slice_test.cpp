// Parts: Python's bounds, views and copies, gradients that cost as much as the tensor, errors.
#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

namespace {

std::vector<double> values(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("slice: the bounds of Python, every one of them") {
  const std::int64_t n = 5;
  const Tensor x = arange(5);
  const std::int64_t bounds[] = {INT64_MIN, -7, -6, -5, -4, -1, 0, 1, 3, 4, 5, 6, 7, kEnd};
  for (const std::int64_t start : bounds) {
    for (const std::int64_t end : bounds) {
      for (const std::int64_t step : {std::int64_t{1}, std::int64_t{2}, std::int64_t{4},
                                      std::int64_t{5}, std::int64_t{INT64_MAX}}) {
        Numbers wanted;
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t first = start < -n ? 0 : start < 0 ? start + n : start;
          const std::int64_t last = end < -n ? 0 : end < 0 ? end + n : end;
          if (i >= first && i < last && (i - first) % step == 0) {
            wanted.push_back(static_cast<double>(i));
          }
        }
        INFO(start, ":", end, ":", step);
        CHECK(values(slice(x, 0, start, end, step)) == wanted);
      }
    }
  }
}

TEST_CASE("slice, select and split are views; flip, tril and triu are not") {
  const Tensor x = reshape(arange(12), {3, 4});
  const auto shares = [&](const Tensor& y) { return y.impl().storage == x.impl().storage; };
  CHECK(shares(slice(x, 1, 1, kEnd, 2)));
  CHECK(shares(select(x, 0, 1)));
  CHECK(shares(split(x, 2)[1]));
  CHECK_FALSE(shares(flip(x, {0})));
  CHECK_FALSE(shares(tril(x)));
  CHECK(slice(slice(x, 1, 1, kEnd, 2), 1, 1).shape() == Shape{3, 1});
  CHECK(values(slice(slice(x, 1, 1, kEnd, 2), 1, 1)) == Numbers{3, 7, 11});
}

TEST_CASE("slice and select: what is wrong is named") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(slice(x, 0, 0, 1, 0), "slice: the step must be positive, got 0", Error);
  CHECK_THROWS_WITH_AS(slice(x, 0, 0, 1, -1), "slice: the step must be positive, got -1", Error);
  CHECK_THROWS_WITH_AS(slice(x, 2, 0), "slice: axis 2 is out of range for a tensor with 2 axes",
                       Error);
  CHECK_THROWS_WITH_AS(select(x, 1, 3),
                       "select: index 3 is out of range for axis 1 of shape [2, 3]", Error);
  CHECK_THROWS_AS(select(x, 1, -4), Error);
  CHECK_THROWS_AS(select(zeros({0}), 0, 0), Error);
}

TEST_CASE("split: by size and by sizes, to the last element") {
  const Tensor x = arange(7);
  const auto pieces = split(x, 3);
  REQUIRE(pieces.size() == 3);
  CHECK(values(pieces[0]) == Numbers{0, 1, 2});
  CHECK(values(pieces[2]) == Numbers{6});
  CHECK(split(x, 7).size() == 1);
  CHECK(split(x, 100).size() == 1);
  CHECK(split(zeros({0, 2}), 3)[0].shape() == Shape{0, 2});
  const auto uneven = split(x, {0, 5, 2});
  CHECK(uneven[0].shape() == Shape{0});
  CHECK(values(uneven[2]) == Numbers{5, 6});
  CHECK(split(zeros({0}), std::vector<std::int64_t>{}).empty());
  CHECK_THROWS_WITH_AS(split(x, 0), "split: the size must be positive, got 0", Error);
  CHECK_THROWS_WITH_AS(split(x, {3, 3}), "split: the sizes leave 1 of 7 on axis 0", Error);
  CHECK_THROWS_WITH_AS(split(x, {3, 5}),
                       "split: the sizes must be at least 0 and add up to 7, got 5", Error);
  CHECK_THROWS_AS(split(x, {8, -1}), Error);
}

TEST_CASE("flip: no axes, several axes, axes of extent 1 and 0") {
  const Tensor x = reshape(arange(6), {2, 3});
  CHECK(values(flip(x, {})) == values(x));
  CHECK(values(flip(x, {0})) == Numbers{3, 4, 5, 0, 1, 2});
  CHECK(values(flip(x, {-1, 0})) == Numbers{5, 4, 3, 2, 1, 0});
  CHECK(values(flip(transpose(x), {0})) == Numbers{2, 5, 1, 4, 0, 3});
  CHECK(values(flip(expand(arange(2), {2, 2}), {1})) == Numbers{1, 0, 1, 0});
  CHECK(flip(zeros({0, 3}), {0, 1}).shape() == Shape{0, 3});
  CHECK_THROWS_WITH_AS(flip(x, {0, 0}), "flip: axis 0 is given twice", Error);
  const Tensor large = reshape(arange(40000), {8, 5000});
  CHECK(values(flip(flip(large, {1}), {1})) == values(large));
  CHECK(flip(large, {0, 1}).at({7, 4999}) == 0);
  CHECK(flip(large, {0, 1}).at({0, 1}) == 39998);
}

TEST_CASE("tril and triu: diagonals far outside, booleans and integers") {
  const Tensor x = ones({2, 3}, DType::boolean);
  CHECK(values(tril(x)) == Numbers{1, 0, 0, 1, 1, 0});
  CHECK(values(triu(x, 1)) == Numbers{0, 1, 1, 0, 0, 1});
  CHECK(values(tril(x, 2)) == Numbers{1, 1, 1, 1, 1, 1});
  for (const std::int64_t far : {std::int64_t{100}, INT64_MAX}) {
    CHECK(values(tril(x, far)) == Numbers{1, 1, 1, 1, 1, 1});
    CHECK(values(triu(x, far)) == Numbers{0, 0, 0, 0, 0, 0});
    CHECK(values(tril(x, -far)) == Numbers{0, 0, 0, 0, 0, 0});
    CHECK(values(triu(x, -far)) == Numbers{1, 1, 1, 1, 1, 1});
  }
  CHECK(values(tril(tensor({{1, 2}, {3, 4}}, DType::i64), -1)) == Numbers{0, 0, 3, 0});
  CHECK_THROWS_WITH_AS(tril(zeros({3})),
                       "tril: the tensor must have at least 2 axes, its shape is [3]", Error);
}

TEST_CASE("tril selects: NaN on the other side does not come through, forward or backward") {
  Tensor x = tensor({{1, NAN}, {2, 3}}, DType::f64);
  x.requires_grad_();
  const Tensor y = tril(x);
  CHECK(values(y) == Numbers{1, 0, 2, 3});
  y.backward(tensor({{1, NAN}, {1, 1}}, DType::f64));
  CHECK(values(x.grad()) == Numbers{1, 0, 1, 1});
}

TEST_CASE("parts of one tensor: their gradients meet in it, zero where no part was") {
  Tensor x = zeros({4, 2}, DType::f64);
  x.requires_grad_();
  const Tensor y = select(x, 0, 1) * 2.0 + select(slice(x, 0, 1, kEnd, 2), 0, 1) * 3.0 +
                   split(x, {1, 3})[0] * 5.0;
  y.backward(tensor({{1, 10}}, DType::f64));
  CHECK(values(x.grad()) == Numbers{5, 50, 2, 20, 0, 0, 3, 30});
}

TEST_CASE("slice: its gradient is one tensor of the input's size, nothing more") {
  Tensor x = zeros({1000}, DType::f64);
  x.requires_grad_();
  const Tensor y = slice(x, 0, 10, 20);
  const Tensor upstream = ones({10}, DType::f64);
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  const auto grads = grad({y}, {x}, {.grad_outputs = {upstream}});
  CHECK(memory::peak_bytes() - before == 8000);
  CHECK(sum(grads[0]).item() == 10);
}
