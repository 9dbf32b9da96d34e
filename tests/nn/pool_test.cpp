// Pooling, upsampling and gates: values by hand, ties, gradients, PyTorch's values, errors.
#include "nn/pool.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/nn/layers_test.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

std::vector<double> values(const Tensor& x) { return x.to_vector<double>(); }

Tensor image() {
  return tensor({{{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}}}}, DType::f64);
}

// For the comparison with recorded values: a layer without parameters.
struct NoParameters {
  static void fields(auto&, auto&&) {}
};

template <class F>
void compare(const std::string& name, const F& f) {
  test::compare(name, NoParameters(),
                [&](const auto&, const auto& in, const auto&) { return f(in[0]); });
}

template <class F>
void check_gradients(const F& f, const Shape& shape, bool smooth) {
  const auto checked = [&](const std::vector<Tensor>& in) { return f(in[0]); };
  const auto first = gradzoo::gradcheck(checked, {test::input(shape, 1)});
  CHECK_MESSAGE(first.ok, first.report);
  if (!smooth) return;
  const auto second = gradzoo::gradgradcheck(checked, {test::input(shape, 2)});
  CHECK_MESSAGE(second.ok, second.report);
}

}  // namespace

TEST_CASE("max_pool2d and avg_pool2d take windows of the kernel's size, one beside the other") {
  CHECK(values(max_pool2d(image(), {.kernel = 2})) == std::vector<double>{6, 8, 14, 16});
  CHECK(values(avg_pool2d(image(), {.kernel = 2})) == std::vector<double>{3.5, 5.5, 11.5, 13.5});
  CHECK(values(max_pool2d(image(), {.kernel = {3, 2}, .stride = HeightWidth(1)})) ==
        std::vector<double>{10, 11, 12, 14, 15, 16});
  CHECK(max_pool2d(image(), {.kernel = 3}).shape() == Shape{1, 1, 1, 1});  // the rest is not read
}

TEST_CASE("padding is never the largest, and counts in a mean unless told otherwise") {
  const Tensor x = image() * -1.0;
  CHECK(values(max_pool2d(x, {.kernel = 2, .padding = 1})) ==
        std::vector<double>{-1, -2, -4, -5, -6, -8, -13, -14, -16});
  const Tensor row = tensor({{{2, 4, 6}}}, DType::f64);
  CHECK(values(avg_pool1d(row, {.kernel = 2, .padding = 1})) == std::vector<double>{1, 5});
  CHECK(values(avg_pool1d(row, {.kernel = 2, .padding = 1, .count_padding = false})) ==
        std::vector<double>{2, 5});
}

TEST_CASE("ties in max pooling share the gradient evenly, and NaN is the largest") {
  const Tensor x = tensor({{{3, 3, 1, 0, 3, 3}}}, DType::f64).requires_grad_();
  max_pool1d(x, {.kernel = 3}).backward(tensor({{{1, 8}}}, DType::f64));
  CHECK(values(x.grad()) == std::vector<double>{0.5, 0.5, 0, 0, 4, 4});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor y = max_pool1d(tensor({{{nan, 3.0, 1.0, 2.0}}}, DType::f64), {.kernel = 2});
  CHECK(std::isnan(y.at({0, 0, 0})));
  CHECK(y.at({0, 0, 1}) == 2);
}

TEST_CASE("upsample_nearest2d repeats, glu gates one half with the other") {
  const Tensor x = tensor({{{{1, 2}, {3, 4}}}}, DType::f64);
  const Tensor y = upsample_nearest2d(x, {1, 2});
  CHECK(y.shape() == Shape{1, 1, 2, 4});
  CHECK(values(y) == std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(values(glu(tensor({{5, 7, 0, 0}}, DType::f64))) == std::vector<double>{2.5, 3.5});
}

TEST_CASE("gradients of pooling, upsampling and glu") {
  using In = const Tensor&;
  check_gradients(
      [](In x) {
        return max_pool2d(x, {.kernel = {2, 3}, .padding = 1});
      },
      {2, 2, 4, 5}, false);
  check_gradients([](In x) { return max_pool1d(x, {.kernel = 3, .stride = 1, .dilation = 2}); },
                  {2, 2, 7}, false);
  check_gradients(
      [](In x) {
        return avg_pool2d(x, {.kernel = {2, 3}, .padding = 1});
      },
      {2, 2, 4, 5}, true);
  check_gradients(
      [](In x) { return avg_pool1d(x, {.kernel = 2, .padding = 1, .count_padding = false}); },
      {2, 2, 5}, true);
  check_gradients([](In x) { return upsample_nearest2d(x, {2, 3}); }, {2, 1, 2, 3}, true);
  check_gradients([](In x) { return glu(x); }, {2, 3, 4}, true);
  check_gradients([](In x) { return glu(x, 0); }, {4, 3}, true);
}

TEST_CASE("an empty batch is pooled to an empty batch") {
  const Tensor x = ones({0, 2, 4, 4});
  CHECK(max_pool2d(x, {.kernel = 2}).shape() == Shape{0, 2, 2, 2});
  CHECK(avg_pool2d(x, {.kernel = 2}).shape() == Shape{0, 2, 2, 2});
  CHECK(upsample_nearest2d(x, 2).shape() == Shape{0, 2, 8, 8});
}

TEST_CASE("PyTorch: pooling, upsampling, glu") {
  using In = const Tensor&;
  compare("max_pool1d",
          [](In x) { return max_pool1d(x, {.kernel = 3, .stride = 2, .padding = 1}); });
  compare("max_pool2d", [](In x) {
    return max_pool2d(
        x, {.kernel = {3, 2}, .stride = HeightWidth(1, 2), .padding = {1, 0}, .dilation = {1, 2}});
  });
  compare("avg_pool1d", [](In x) { return avg_pool1d(x, {.kernel = 2}); });
  for (const bool all : {true, false}) {
    compare(all ? "avg_pool2d" : "avg_pool2d_inside", [&](In x) {
      return avg_pool2d(
          x, {.kernel = {3, 2}, .stride = HeightWidth(2, 1), .padding = 1, .count_padding = all});
    });
  }
  compare("upsample_nearest2d", [](In x) { return upsample_nearest2d(x, {2, 3}); });
  compare("glu", [](In x) { return glu(x, 1); });
}

TEST_CASE("errors of pooling, upsampling and glu name shapes and options") {
  CHECK_THROWS_WITH_AS(max_pool2d(ones({2, 3}), {.kernel = 2}),
                       "max_pool2d: x must be [batch, channels, height, width], got shape [2, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(
      avg_pool2d(image(), {.kernel = {2, 3}, .padding = 2}),
      "avg_pool2d: the padding must be at most half the kernel of 2 x 3, got 2 x 2", Error);
  CHECK_THROWS_WITH_AS(max_pool1d(image(), {.kernel = 2}),
                       "max_pool1d: x must be [batch, channels, time], got shape [1, 1, 4, 4]",
                       Error);
  CHECK_THROWS_AS(max_pool2d(image(), {.kernel = 5}), Error);
  CHECK_THROWS_AS(max_pool2d(image(), {.kernel = 2, .stride = HeightWidth(0)}), Error);
  CHECK_THROWS_AS(max_pool2d(to(image(), DType::i64), {.kernel = 2}), Error);
  CHECK_THROWS_WITH_AS(upsample_nearest2d(image(), 0),
                       "upsample_nearest2d: the scale must be at least 1, got 0 and 0", Error);
  CHECK_THROWS_WITH_AS(glu(ones({2, 3})), "glu: axis -1 must have an even extent, got shape [2, 3]",
                       Error);
}
