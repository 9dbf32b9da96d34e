// Pooling: values by hand, padding, ties, NaN, errors. Every option's values and derivatives are in
// the op table.
#include "core/ops/pool.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/threads.h"

using namespace gradzoo;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> values(const Tensor& x) { return x.to_vector<double>(); }

Tensor image() {
  return tensor({{{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}}}}, DType::f64);
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

TEST_CASE("rounded up, what is left over is a window, unless it begins in the padding at the end") {
  const Tensor row = tensor({{{1, 2, 3, 4, 5}}}, DType::f64);
  CHECK(values(max_pool1d(row, {.kernel = 2, .ceil = true})) == std::vector<double>{2, 4, 5});
  // Of the last window the second element is past everything: it does not count.
  CHECK(values(avg_pool1d(row, {.kernel = 2, .ceil = true})) == std::vector<double>{1.5, 3.5, 5});
  // Windows begin at -1, 1, 3, and then at 5, in the padding.
  const Pool1dOptions padded{.kernel = 2, .stride = 2, .padding = 1, .ceil = true};
  CHECK(values(max_pool1d(row, padded)) == std::vector<double>{1, 3, 5});
  CHECK(values(avg_pool1d(tensor({{{2, 4, 6, 8}}}, DType::f64), padded)) ==
        std::vector<double>{1, 5, 4});
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

TEST_CASE("a window of NaN: the gradient goes to the NaN, and to the second derivative too") {
  const Tensor x = tensor({{{kNaN, 1, 2, 2}}}, DType::f64).requires_grad_();
  const Tensor y = max_pool1d(x, {.kernel = 2});
  const Tensor upstream = tensor({{{3, 8}}}, DType::f64).requires_grad_();
  const Tensor dx = grad({y}, {x}, {.grad_outputs = {upstream}, .create_graph = true})[0];
  CHECK(values(dx) == std::vector<double>{3, 0, 4, 4});
  // dx is linear in the upstream gradient: its transpose takes the mean over the ties.
  const Tensor u = tensor({{{1, 10, 100, 300}}}, DType::f64);
  CHECK(values(grad({sum(dx * u)}, {upstream})[0]) == std::vector<double>{1, 200});
}

TEST_CASE("a window that lies outside has nothing to give and gets no gradient") {
  const Tensor x = tensor({{{7}}}, DType::f64).requires_grad_();
  const Tensor y = max_pool1d(x, {.kernel = 2, .stride = 1, .padding = 1, .dilation = 2});
  CHECK(values(y) == std::vector<double>{-std::numeric_limits<double>::infinity()});
  sum(y).backward();
  CHECK(values(x.grad()) == std::vector<double>{0});
}

TEST_CASE("the bits of pooling do not depend on the number of threads") {
  Rng rng(1);
  const Tensor x = randn({4, 9, 40, 41}, rng).requires_grad_();
  const int before = num_threads();
  std::vector<std::vector<float>> seen;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    const PoolOptions o{.kernel = 3, .stride = HeightWidth(1), .padding = 1};
    const Tensor y = max_pool2d(x, o) + avg_pool2d(x, o);
    seen.push_back(grad({sum(y * y)}, {x})[0].to_vector<float>());
  }
  set_num_threads(before);
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("errors of pooling name shapes and options") {
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
}
