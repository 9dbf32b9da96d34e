// topk and sort: ties, NaN, axes, gradients.
#include "core/ops/order.h"

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

TEST_CASE("TOP1: ties give the lower index first, for every k") {
  const Tensor x = tensor({1, 2, 5, 4, 5});
  const Numbers wanted = {2, 4, 3, 1, 0};
  for (std::int64_t k = 0; k <= 5; ++k) {
    CHECK(values(topk(x, k).indices) == Numbers(wanted.begin(), wanted.begin() + k));
  }
  const Numbers smallest = {0, 1, 3, 2, 4};
  for (std::int64_t k = 0; k <= 5; ++k) {
    CHECK(values(topk(x, k, 0, false).indices) == Numbers(smallest.begin(), smallest.begin() + k));
  }
  const Tensor equal = zeros({100});
  for (const std::int64_t k : {1, 2, 50, 99, 100}) {
    CHECK(values(topk(equal, k).indices) == values(arange(static_cast<double>(k))));
    CHECK(values(topk(equal, k, 0, false).indices) == values(arange(static_cast<double>(k))));
  }
}

TEST_CASE("sort: stable both ways") {
  const Tensor x = tensor({3, 1, 3, 2, 1}, DType::i64);
  CHECK(sort(x).values.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 2, 3, 3});
  CHECK(values(sort(x).indices) == Numbers{1, 4, 3, 0, 2});
  CHECK(values(sort(x, 0, true).indices) == Numbers{0, 2, 3, 1, 4});
}

TEST_CASE("NaN is the largest value, -0 equals 0") {
  const Tensor x = tensor({1, NAN, HUGE_VAL, NAN, -HUGE_VAL});
  CHECK(values(topk(x, 3).indices) == Numbers{1, 3, 2});
  CHECK(values(topk(x, 4, -1, false).indices) == Numbers{4, 0, 2, 1});
  CHECK(values(sort(x).indices) == Numbers{4, 0, 2, 1, 3});
  CHECK(std::isnan(topk(x, 1).values.item()));
  CHECK(values(sort(tensor({0.0, -0.0, 0.0})).indices) == Numbers{0, 1, 2});
  CHECK(values(sort(tensor({-0.0, 0.0}), 0, true).indices) == Numbers{0, 1});
}

TEST_CASE("topk and sort: any axis, against sorting the lines one by one") {
  Rng rng(1);
  const Tensor x = randn({4, 7, 5}, rng, DType::f64);
  for (const int axis : {0, 1, 2}) {
    const Ordered all = sort(x, axis, true), some = topk(x, 3, axis);
    CHECK(all.values.shape() == x.shape());
    CHECK(values(slice(all.values, axis, 0, 3)) == values(some.values));
    CHECK(values(slice(all.indices, axis, 0, 3)) == values(some.indices));
    CHECK(values(gather(x, axis, some.indices)) == values(some.values));
    for (std::int64_t i = 0; i + 1 < x.size(axis); ++i) {
      CHECK(values(ge(select(all.values, axis, i), select(all.values, axis, i + 1))) ==
            values(ones_like(select(all.values, axis, i))));
    }
  }
}

TEST_CASE("topk: long lines, found among many") {
  Rng rng(2);
  const Tensor x = randn({3, 20000}, rng);
  const Ordered all = sort(x, 1, true);
  for (const std::int64_t k : {1, 5, 1000}) {
    CHECK(values(topk(x, k).indices) == values(slice(all.indices, 1, 0, k)));
  }
}

TEST_CASE("topk and sort: the gradient goes to the places the values came from") {
  Tensor x = tensor({{1, 5, 5}, {7, 8, 6}}, DType::f64);
  x.requires_grad_();
  topk(x, 2).values.backward(tensor({{1, 2}, {3, 4}}, DType::f64));
  CHECK(values(x.grad()) == Numbers{0, 1, 2, 4, 3, 0});
  x.zero_grad();
  sort(x, 0).values.backward(tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64));
  CHECK(values(x.grad()) == Numbers{1, 2, 3, 4, 5, 6});
  CHECK_FALSE(topk(x, 2).indices.requires_grad());
  CHECK(topk(x, 2).values.node()->op.name == std::string("topk"));
}

TEST_CASE("topk: what is wrong is named") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(topk(x, 4), "topk: k must be in [0, 3] on axis -1 of shape [2, 3], got 4",
                       Error);
  CHECK_THROWS_AS(topk(x, -1), Error);
  CHECK_THROWS_AS(topk(scalar(1), 1), Error);
  CHECK_THROWS_WITH_AS(sort(x, 2), "sort: axis 2 is out of range for a tensor with 2 axes", Error);
  CHECK_THROWS_AS(sort(ones({2}, DType::boolean)), Error);
  CHECK(topk(zeros({0, 3}), 2).values.shape() == Shape{0, 2});
  CHECK(sort(zeros({3, 0})).indices.shape() == Shape{3, 0});
}
