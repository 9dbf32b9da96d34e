// The numbers about heads, on matrices made by hand.
#include "examples/common/attention_statistics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/create.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

AttentionMap map_of(const Tensor& weights, const Tensor& may_attend) {
  AttentionMap map;
  map.weights = weights;
  map.may_attend = may_attend;
  return map;
}

AttentionStatistics statistics(const Nested& weights, const Nested& may_attend) {
  return attention_statistics(
      map_of(tensor(weights, DType::f64), tensor(may_attend, DType::boolean)));
}

}  // namespace

TEST_CASE("attention_statistics: a head that looks at its own place") {
  const auto s = statistics({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  CHECK(s.entropy == 0);
  CHECK(s.most_entropy == doctest::Approx(std::log(3)));
  CHECK(s.diagonal.value() == 1);
  CHECK(s.anti_diagonal.value() == doctest::Approx(1.0 / 3));  // the middle is on both
  CHECK(s.previous.value() == 0);
}

TEST_CASE("attention_statistics: every number is the one on paper") {
  const auto s = statistics({{0.5, 0.5}, {0.2, 0.8}}, {{1, 1}, {1, 1}});
  const double second = -0.2 * std::log(0.2) - 0.8 * std::log(0.8);
  CHECK(s.entropy == doctest::Approx((std::log(2) + second) / 2));
  CHECK(s.most_entropy == doctest::Approx(std::log(2)));
  CHECK(s.diagonal.value() == doctest::Approx(0.65));
  CHECK(s.anti_diagonal.value() == doctest::Approx(0.35));
  CHECK(s.previous.value() == doctest::Approx(0.2));  // the second query alone has one
}

TEST_CASE("attention_statistics: more queries than keys, as when the end symbol is written") {
  const auto s = statistics({{0, 1}, {1, 0}, {0.75, 0.25}}, {{1, 1}, {1, 1}, {1, 1}});
  CHECK(s.diagonal.value() == 0);
  CHECK(s.anti_diagonal.value() == 1);
  CHECK(s.previous.value() == doctest::Approx((1 + 0.25) / 2));
}

TEST_CASE("attention_statistics: masked cells do not count, nor do rows of them") {
  const auto s =
      statistics({{1, 0, 0}, {0.5, 0.5, 0}, {0.25, 0.25, 0.5}}, {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}});
  CHECK(s.most_entropy == doctest::Approx((0 + std::log(2) + std::log(3)) / 3));
  CHECK(s.diagonal.value() == doctest::Approx((1 + 0.5 + 0.5) / 3));
  CHECK(s.anti_diagonal.value() == doctest::Approx((0.5 + 0.25) / 2));
  CHECK(s.previous.value() == doctest::Approx((0.5 + 0.25) / 2));
  const auto nothing = statistics({{0, 0}, {0.5, 0.5}}, {{0, 0}, {1, 1}});
  CHECK(nothing.entropy == doctest::Approx(std::log(2)));
  CHECK(nothing.most_entropy == doctest::Approx(std::log(2)));
  CHECK(nothing.diagonal.value() == 0.5);
}

TEST_CASE("attention_statistics: no mean where there is no cell") {
  const auto s = statistics({{1}}, {{1}});
  CHECK(s.diagonal.value() == 1);
  CHECK(!s.previous.has_value());
  const auto masked = statistics({{0, 0}}, {{0, 0}});
  CHECK(!masked.diagonal.has_value());
  CHECK(masked.entropy == 0);
  CHECK(masked.most_entropy == 0);
}

TEST_CASE("AttentionCells: weights and masks by query and key, whatever the strides") {
  const Tensor weights = tensor({{0, 1}, {2, 3}, {4, 5}});
  const AttentionCells cells(map_of(weights, tensor({{1, 0}, {1, 1}, {0, 1}}, DType::boolean)));
  CHECK(cells.queries == 3);
  CHECK(cells.keys == 2);
  CHECK(cells.weight(1, 0) == 2);
  CHECK(cells.weight(2, 1) == 5);
  CHECK(cells.is_masked(0, 1));
  CHECK(!cells.is_masked(1, 0));
  CHECK(cells.is_masked(2, 0));
}
