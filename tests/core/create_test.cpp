// Constants, ranges, nested values, one_hot: dtypes, exactness, errors.
#include "core/create.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops/view.h"

using namespace gradzoo;

TEST_CASE("full: every dtype; what an integer or boolean cannot hold exactly is an error") {
  CHECK(full({2}, 1.5).to_vector<float>() == std::vector<float>{1.5, 1.5});
  CHECK(full({2}, -3, DType::i64).to_vector<std::int64_t>() == std::vector<std::int64_t>{-3, -3});
  CHECK(ones({1}, DType::boolean).to_vector<bool>() == std::vector<bool>{true});
  CHECK(std::isnan(full({1}, NAN).item()));
  CHECK(zeros({2, 0, 3}).shape() == Shape{2, 0, 3});
  CHECK_THROWS_WITH_AS(full({1}, 0.5, DType::i64), "full: 0.5 cannot be held by a i64 tensor",
                       Error);
  CHECK_THROWS_WITH_AS(full({1}, 2, DType::boolean), "full: 2 cannot be held by a boolean tensor",
                       Error);
  CHECK_THROWS_AS(full({1}, NAN, DType::i64), Error);
  CHECK_THROWS_AS(full({1}, 0x1p63, DType::i64), Error);
  CHECK_THROWS_AS(full({1}, -HUGE_VAL, DType::i64), Error);
  CHECK(full({1}, -0x1p63, DType::i64).to_vector<std::int64_t>()[0] == INT64_MIN);
}

TEST_CASE("zeros_like and its kin: shape and dtype, not strides, not history") {
  Tensor x = ones({2, 3}, DType::f64);
  x.requires_grad_();
  const Tensor y = zeros_like(transpose(x));
  CHECK(y.shape() == Shape{3, 2});
  CHECK(y.dtype() == DType::f64);
  CHECK(y.is_contiguous());
  CHECK_FALSE(y.requires_grad());
  CHECK(full_like(ones({2}, DType::i64), 4).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{4, 4});
}

TEST_CASE("arange: the count is that of exact arithmetic, values do not drift") {
  CHECK(arange(0, 1, 0.1, DType::f64).numel() == 10);
  CHECK(arange(1, 0, -0.1, DType::f64).numel() == 10);
  CHECK(arange(0.5, 3).to_vector<float>() == std::vector<float>{0.5, 1.5, 2.5});
  CHECK(arange(3.5).to_vector<float>() == std::vector<float>{0, 1, 2, 3});
  CHECK(arange(-1).numel() == 0);
  CHECK(arange(0, 1, -1).numel() == 0);
  const Tensor x = arange(0, 1000, 0.1, DType::f64);
  CHECK(x.numel() == 10000);
  CHECK(x.at({9999}) == 9999 * 0.1);
  // 2^24 + 1 is no float: each value is rounded by itself, not added up.
  const Tensor large = arange(16777215, 16777220);
  CHECK(large.to_vector<float>() ==
        std::vector<float>{16777215, 16777216, 16777216, 16777218, 16777220});
  CHECK(arange(3, DType::i64).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("arange: what is wrong is named") {
  CHECK_THROWS_WITH_AS(
      arange(0, 1, 0),
      "arange: start, end and step must be finite and the step not 0, got 0, 1 and 0", Error);
  CHECK_THROWS_AS(arange(0, 1, NAN), Error);
  CHECK_THROWS_AS(arange(0, HUGE_VAL), Error);
  CHECK_THROWS_AS(arange(0, 1, 1e-300), Error);
  CHECK_THROWS_WITH_AS(arange(0, 1, 0.5, DType::i64), "arange: 0.5 cannot be held by a i64 tensor",
                       Error);
}

TEST_CASE("eye: any shape and dtype") {
  CHECK(eye(2, 3, DType::i64).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, 0, 0, 0, 1, 0});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK(eye(2, 0).shape() == Shape{2, 0});
  CHECK_THROWS_AS(eye(-2), Error);
}

TEST_CASE("tensor: numbers and lists of any depth") {
  CHECK(tensor(3).shape() == Shape{});
  CHECK(tensor({1, 2}).shape() == Shape{2});
  CHECK(tensor({{{1}, {2}}, {{3}, {4}}, {{5}, {6}}}).shape() == Shape{3, 2, 1});
  CHECK(tensor({{1, 2}, {3, 4}}).to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(tensor({1, 0}, DType::boolean).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK_THROWS_WITH_AS(tensor({{1, 2}, {3}}), "tensor: ragged values, [1] beside [2]", Error);
  CHECK_THROWS_AS(tensor({{1, 2}, 3}), Error);
  CHECK_THROWS_WITH_AS(tensor({0.5}, DType::i64), "tensor: 0.5 cannot be held by a i64 tensor",
                       Error);
}

TEST_CASE("from_vector: a copy, in row-major order") {
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const Tensor x = from_vector(values, {2, 3});
  values[0] = 9;
  CHECK(x.dtype() == DType::f64);
  CHECK(x.at({0, 0}) == 1);
  CHECK(x.at({1, 0}) == 4);
  CHECK(from_vector(std::vector<bool>{true, false}, {2}).at({0}) == 1);
  CHECK_THROWS_WITH_AS(from_vector(values, {4}), "from_vector: 6 values do not fill the shape [4]",
                       Error);
}

TEST_CASE("one_hot: ids outside the classes are named") {
  CHECK(one_hot(tensor({2, 0}, DType::i64), 3, DType::boolean).to_vector<bool>() ==
        std::vector<bool>{false, false, true, true, false, false});
  CHECK(one_hot(zeros({0}, DType::i64), 0).shape() == Shape{0, 0});
  CHECK_THROWS_WITH_AS(one_hot(tensor({0, 3}, DType::i64), 3), "one_hot: id 3 is outside [0, 3)",
                       Error);
  CHECK_THROWS_WITH_AS(one_hot(tensor({-1}, DType::i64), 3), "one_hot: id -1 is outside [0, 3)",
                       Error);
  CHECK_THROWS_WITH_AS(one_hot(tensor({1}), 3), "data: the tensor is f32, not i64", Error);
}
