// Shape: its limits, element counts, broadcasting, axes.
#include "core/shape.h"

#include <doctest/doctest.h>

#include "core/create.h"
#include "core/ops/view.h"

using namespace gradzoo;

TEST_CASE("Shape: a list of at most eight numbers") {
  Shape shape = {2, 3};
  CHECK(shape.rank() == 2);
  CHECK(shape.back() == 3);
  shape.push_back(5);
  shape.insert(0, 7);
  CHECK(shape == Shape{7, 2, 3, 5});
  shape.erase(1);
  CHECK(shape == Shape{7, 3, 5});
  CHECK(shape.sub(1, 3) == Shape{3, 5});
  CHECK(shape.sub(1, 1) == Shape{});
  CHECK_FALSE(shape == Shape{7, 3});
  CHECK_FALSE(Shape{7, 3} == shape);
  CHECK(Shape::filled(3, 4) == Shape{4, 4, 4});
  CHECK(Shape{}.empty());
  CHECK(to_string(shape) == "[7, 3, 5]");
  CHECK(to_string(Shape{}) == "[]");
  CHECK(fmt::format("{}", shape) == "[7, 3, 5]");
}

TEST_CASE("Shape: more than eight numbers are an error") {
  Shape full = Shape::filled(8, 1);
  CHECK_THROWS_WITH_AS(full.push_back(2),
                       "shape: at most 8 axes are allowed, [1, 1, 1, 1, 1, 1, 1, 1] cannot get one "
                       "more",
                       Error);
  CHECK_THROWS_WITH_AS((Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}),
                       "shape: at most 8 axes are allowed, got 9", Error);
  CHECK_THROWS_AS(unsqueeze(zeros(full), 0), Error);
}

TEST_CASE("numel: products, scalars, empty shapes") {
  CHECK(Shape{}.numel() == 1);
  CHECK(Shape{3, 4, 5}.numel() == 60);
  CHECK(Shape{3, 0, 5}.numel() == 0);
  CHECK(Shape{std::int64_t{1} << 59}.numel() == std::int64_t{1} << 59);
}

TEST_CASE(
    "OVF1: a shape whose element count does not fit is an error before anything is allocated") {
  const std::int64_t huge = std::int64_t{1} << 61;
  const std::uint64_t before = memory::system_allocations();
  CHECK_THROWS_WITH_AS(zeros({2, 2, 1, huge}),
                       "shape: [2, 2, 1, 2305843009213693952] has too many elements", Error);
  CHECK_THROWS_AS((Shape{(std::int64_t{1} << 59) + 1}.numel()), Error);
  CHECK_THROWS_AS((Shape{INT64_MAX, INT64_MAX, INT64_MAX}.numel()), Error);
  // The product modulo 2^64 of these is small.
  CHECK_THROWS_AS((Shape{std::int64_t{1} << 32, std::int64_t{1} << 32, 3}.numel()), Error);
  CHECK_THROWS_AS(expand(zeros({1}), {huge, 4}), Error);
  CHECK_THROWS_AS(pad(zeros({1}), {{huge, huge}}), Error);
  CHECK(memory::system_allocations() - before <= 2);  // the two zeros({1}) that work
  CHECK(Shape{huge, huge, 0}.numel() == 0);           // nothing, whatever the others say
}

TEST_CASE("numel: negative extents are an error") {
  CHECK_THROWS_WITH_AS((Shape{2, -1}.numel()), "shape: extents must not be negative, got [2, -1]",
                       Error);
  CHECK_THROWS_AS((Shape{0, -1}.numel()), Error);
  CHECK_THROWS_AS(zeros({-3}), Error);
}

TEST_CASE("contiguous_strides") {
  CHECK(contiguous_strides({2, 3, 4}) == Shape{12, 4, 1});
  CHECK(contiguous_strides({}) == Shape{});
  CHECK(contiguous_strides({2, 0, 4}) == Shape{4, 4, 1});
}

TEST_CASE("unravel_index counts in row-major order") {
  CHECK(unravel_index(0, {2, 3}) == Shape{0, 0});
  CHECK(unravel_index(5, {2, 3}) == Shape{1, 2});
  CHECK(unravel_index(3, {2, 3}) == Shape{1, 0});
}

TEST_CASE("broadcast_shapes: NumPy's rule") {
  CHECK(broadcast_shapes("op", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast_shapes("op", {}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast_shapes("op", {2, 1, 4}, {3, 1}) == Shape{2, 3, 4});
  CHECK(broadcast_shapes("op", {1}, {0}) == Shape{0});
  CHECK(broadcast_shapes("op", {0}, {1}) == Shape{0});
  CHECK_THROWS_WITH_AS(broadcast_shapes("add", {2, 3}, {2}),
                       "add: shapes [2, 3] and [2] cannot be broadcast together", Error);
  CHECK_THROWS_AS(broadcast_shapes("add", {0}, {2}), Error);
}

TEST_CASE("axes: negative ones count from the back, repeats are refused") {
  CHECK(normalize_axis("op", -1, 3) == 2);
  CHECK(normalize_axis("op", -3, 3) == 0);
  CHECK_THROWS_WITH_AS(normalize_axis("sum", 3, 3),
                       "sum: axis 3 is out of range for a tensor with 3 axes", Error);
  CHECK_THROWS_AS(normalize_axis("op", -4, 3), Error);
  CHECK_THROWS_AS(normalize_axis("op", 0, 0), Error);
  CHECK(normalize_axes("op", {-1, 0}, 3) == Shape{2, 0});
  CHECK(normalize_axes("op", {}, 2) == Shape{0, 1});
  CHECK_THROWS_WITH_AS(normalize_axes("sum", {0, -2}, 2), "sum: axis -2 is given twice", Error);
}
