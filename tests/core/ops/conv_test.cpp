// Convolutions: known bugs, adjoints, sizes around the vector width, threads, errors. Values and
// derivatives of every option are in the op table.
#include "core/ops/conv.h"

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/threads.h"

using namespace gradzoo;

namespace {

Tensor arange64(std::int64_t n, const Shape& shape) {
  return reshape(arange(0, static_cast<double>(n), 1, DType::f64), shape);
}

}  // namespace

TEST_CASE("CNV1: where the stride does not divide, the gradient has the input's shape") {
  Rng rng(1);
  const Tensor x = randn({1, 1, 32, 32}, rng, DType::f64).requires_grad_();
  const Tensor y = conv2d(x, rand({1, 1, 5, 5}, rng, DType::f64) + 1.0, {}, {.stride = 2});
  CHECK(y.shape() == Shape{1, 1, 14, 14});
  sum(y).backward();
  REQUIRE(x.grad().shape() == Shape{1, 1, 32, 32});
  CHECK(max(abs(select(x.grad(), 2, 31))).item() == 0);
  CHECK(max(abs(select(x.grad(), 3, 31))).item() == 0);
  CHECK(min(slice(slice(x.grad(), 2, 0, 31), 3, 0, 31)).item() >= 1);
}

TEST_CASE("CNV3: padding goes to all sides alike") {
  const Tensor y = conv2d(ones({1, 1, 2, 2}, DType::f64), arange64(9, {1, 1, 3, 3}), {},
                          {.stride = 2, .padding = 1});
  CHECK(y.shape() == Shape{1, 1, 1, 1});
  CHECK(y.item() == 24);  // 4 + 5 + 7 + 8: the lower right of the kernel
}

TEST_CASE("fold is the adjoint of unfold, and conv_transpose2d that of conv2d") {
  Rng rng(2);
  for (const std::int64_t width : {7, 8, 9, 15, 16, 17, 31, 33}) {
    for (const std::int64_t stride : {1, 2}) {
      CAPTURE(width);
      CAPTURE(stride);
      const WindowOptions o{.kernel = {2, 3}, .stride = {1, stride}, .padding = {0, 1}};
      const Tensor x = randn({2, 3, 4, width}, rng, DType::f64);
      const Tensor columns = unfold(x, o);
      const Tensor g = randn(columns.shape(), rng, DType::f64);
      const double left = sum(columns * g).item(), right = sum(x * fold(g, {4, width}, o)).item();
      CHECK(left == doctest::Approx(right).epsilon(1e-12));

      const Tensor weight = randn({2, 3, 2, 3}, rng, DType::f64);
      const Tensor y = conv2d(x, weight, {}, {.stride = {1, stride}, .padding = {0, 1}});
      const Tensor u = randn(y.shape(), rng, DType::f64);
      const Tensor back =
          conv_transpose2d(u, weight, {},
                           {.stride = {1, stride},
                            .padding = {0, 1},
                            .output_padding = {0, stride == 2 ? (width + 1) % 2 : 0}});
      REQUIRE(back.shape() == x.shape());
      CHECK(sum(y * u).item() == doctest::Approx(sum(x * back).item()).epsilon(1e-12));
    }
  }
}

TEST_CASE("a convolution is unfold and a product of matrices, for images that are taken in parts") {
  struct Case {
    Shape x, weight;
    Conv2dOptions o;
  };
  const std::vector<Case> cases = {
      {{1, 3, 40, 41}, {2, 3, 3, 3}, {.padding = 1}},         // parts of the rows
      {{1, 2, 1, 1100}, {3, 2, 1, 3}, {.padding = {0, 1}}},   // parts of the only row
      {{1, 2, 1, 1100}, {3, 2, 1, 3}, {.stride = 2}},         //
      {{1, 2, 1100, 1}, {3, 2, 3, 1}, {.padding = {1, 0}}},   // rows of one element
      {{3, 60, 18, 17}, {4, 60, 3, 3}, {.padding = {2, 1}}},  // of so few that they fit
      {{2, 20, 33, 31}, {4, 10, 3, 2}, {.stride = {2, 1}, .padding = 1, .groups = 2}},
      {{9, 5, 17, 33}, {7, 5, 1, 1}, {}},                           // the image is the columns
      {{9, 5, 17, 33}, {7, 5, 1, 1}, {.stride = 2, .padding = 0}},  //
      {{5, 6, 20, 33}, {6, 1, 3, 3}, {.padding = 1, .groups = 6}},  // one channel, one kernel
      {{5, 6, 20, 35}, {6, 1, 3, 3}, {.stride = 2, .dilation = 2, .groups = 6}},
  };
  Rng rng(4);
  for (const auto& [image, weight, o] : cases) {
    const Shape shape = image, kernel = weight;  // what a lambda may refer to
    CAPTURE(shape);
    CAPTURE(kernel);
    const Tensor x = randn(shape, rng, DType::f64).requires_grad_();
    const Tensor w = randn(kernel, rng, DType::f64).requires_grad_();
    const Tensor y = conv2d(x, w, {}, o);
    const Tensor columns = unfold(x, {{kernel[2], kernel[3]}, o.stride, o.padding, o.dilation});
    const Tensor product =
        matmul(reshape(w, {o.groups, kernel[0] / o.groups, -1}),
               reshape(columns, {shape[0], o.groups, columns.size(1) / o.groups, columns.size(2)}));
    const Tensor expected = reshape(product, y.shape());
    CHECK(max(abs(y - expected)).item() < 1e-12);
    const Tensor upstream = randn(y.shape(), rng, DType::f64);
    const auto ours = grad({sum(y * upstream)}, {x, w});
    const auto composed = grad({sum(expected * upstream)}, {x, w});
    for (std::size_t i = 0; i < 2; ++i) CHECK(max(abs(ours[i] - composed[i])).item() < 1e-11);
  }
}

TEST_CASE("the bits of a convolution do not depend on the number of threads") {
  Rng rng(3);
  const Tensor x = randn({3, 8, 40, 41}, rng).requires_grad_();
  const int before = num_threads();
  for (const std::int64_t groups : {1, 2, 8}) {
    const Tensor w = randn({8, 8 / groups, 3, 3}, rng).requires_grad_();
    std::vector<std::vector<float>> seen;
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      const Tensor y = conv2d(x, w, {}, {.padding = 1, .groups = groups});
      std::vector<float> all = y.to_vector<float>();
      for (const Tensor& g : grad({sum(y * y)}, {x, w})) {
        const std::vector<float> part = g.to_vector<float>();
        all.insert(all.end(), part.begin(), part.end());
      }
      seen.push_back(all);
    }
    set_num_threads(before);
    CHECK(seen[0] == seen[1]);
    CHECK(seen[0] == seen[2]);
  }
}

TEST_CASE("errors of convolutions name shapes and options") {
  const Tensor x = ones({2, 4, 5, 6});
  const Tensor w = ones({6, 4, 3, 3});
  CHECK_THROWS_WITH_AS(conv2d(ones({4, 5}), w),
                       "conv2d: x must be [batch, channels, height, width], got shape [4, 5]",
                       Error);
  CHECK_THROWS_WITH_AS(conv2d(x, ones({6, 4, 3})),
                       "conv2d: weight must be [out, channels / groups, kernel height, kernel "
                       "width], got shape [6, 4, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(conv2d(x, ones({6, 3, 3, 3})),
                       "conv2d: x of shape [2, 4, 5, 6] has 4 channels, but a weight of shape "
                       "[6, 3, 3, 3] with 1 groups wants 3",
                       Error);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {}, {.groups = 3}),
                       "conv2d: 3 groups must divide the channels of x and the first axis of "
                       "weight, got shapes [2, 4, 5, 6] and [6, 4, 3, 3]",
                       Error);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.groups = 0}), Error);
  CHECK_THROWS_WITH_AS(
      conv2d(x, w, ones({4})),
      "conv2d: bias must have shape [6] for a weight of shape [6, 4, 3, 3], got [4]", Error);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {}, {.dilation = {1, 3}}),
                       "conv2d: a window of 3 x 7 (dilation included) does not fit into 5 x 6 with "
                       "padding 0 x 0",
                       Error);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {}, {.stride = {1, 0}}),
                       "conv2d: stride must be at least 1, got 1 and 0", Error);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {}, {.padding = -1}),
                       "conv2d: padding must be at least 0, got -1 and -1", Error);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.dilation = INT64_MAX}), Error);
  CHECK_THROWS_AS(conv2d(x, to(w, DType::f64)), Error);
  CHECK_THROWS_AS(conv2d(to(x, DType::i64), to(w, DType::i64)), Error);
  CHECK_THROWS_AS(conv2d(x, ones({6, 4, 0, 3})), Error);
  CHECK_THROWS_WITH_AS(conv1d(x, w),
                       "conv1d: x must be [batch, channels, time], got shape "
                       "[2, 4, 5, 6]",
                       Error);
  CHECK_THROWS_WITH_AS(conv1d(ones({1, 2, 3}), w),
                       "conv1d: weight must be [out, channels / groups, kernel], got shape "
                       "[6, 4, 3, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(conv_transpose2d(x, w),
                       "conv_transpose2d: x of shape [2, 4, 5, 6] and weight of shape [6, 4, 3, 3] "
                       "must have the same number of channels",
                       Error);
  CHECK_THROWS_WITH_AS(
      conv_transpose2d(x, ones({4, 1, 2, 2}), {}, {.stride = 2, .output_padding = 2}),
      "conv_transpose2d: output_padding must be at least 0 and less than the stride, got 2 and 2",
      Error);
  CHECK_THROWS_AS(conv_transpose2d(x, ones({4, 1, 2, 2}), {}, {.padding = 4}), Error);
  CHECK_THROWS_WITH_AS(
      fold(ones({2, 8, 5}), 3, {.kernel = 2}),
      "fold: columns of shape [2, 8, 5] are not [batch, channels * 4, 4], which images of 3 x 3 "
      "have",
      Error);
  CHECK_THROWS_AS(fold(ones({8, 4}), 3, {.kernel = 2}), Error);
  CHECK_THROWS_AS(unfold(to(x, DType::i64), {.kernel = 2}), Error);
}
