// SpectralNorm: the singular value it finds, when it looks for it, and gradients by finite
// differences.
#include "nn/spectral_norm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "core/scope.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::SpectralNorm;

namespace {

Tensor trained(const SpectralNorm& layer) {
  Rng rng(1);
  const TrainingScope training(rng);
  return layer();
}

}  // namespace

TEST_CASE("SpectralNorm divides by the largest singular value") {
  Rng rng(2);
  // diag(3, -5) has the singular values 3 and 5; a rotation of it keeps them.
  const Tensor diagonal = tensor({{3, 0}, {0, -5}}, DType::f64);
  const Tensor turn = tensor({{0.6, -0.8}, {0.8, 0.6}}, DType::f64);
  for (const Tensor& weight : {diagonal, matmul(turn, diagonal)}) {
    const SpectralNorm layer(weight, rng, {.power_iterations = 50});
    // It starts after 15 iterations, each of which leaves 9 parts of 25 of the other vector.
    CHECK(test::max_difference(layer(), weight / 5.0) < 1e-3);
    CHECK(test::max_difference(trained(layer), weight / 5.0) < 1e-12);
  }
  const SpectralNorm one(tensor({{-4}}), rng);
  CHECK(one().item() == doctest::Approx(-1));
}

TEST_CASE("SpectralNorm: power iterations in training alone, and they converge") {
  Rng rng(3);
  const Tensor weight = randn({5, 7}, rng, DType::f64);
  const SpectralNorm layer(weight, rng);
  const Tensor u = clone(layer.u);
  const Tensor before = layer();
  CHECK(test::max_difference(layer.u, u) == 0);
  CHECK(test::max_difference(norm(layer.u), scalar(1, DType::f64)) < 1e-12);
  CHECK(test::max_difference(norm(layer.v), scalar(1, DType::f64)) < 1e-12);
  trained(layer);
  CHECK(test::max_difference(layer.u, u) > 0);
  for (int i = 0; i < 1000; ++i) trained(layer);
  // At the end W v = sigma u and W^T u = sigma v.
  const double sigma = weight.at({0, 0}) / layer().at({0, 0});
  CHECK(test::max_difference(matmul(weight, layer.v), layer.u * sigma) < 1e-9);
  CHECK(test::max_difference(matmul(layer.u, weight), layer.v * sigma) < 1e-9);
}

TEST_CASE("SpectralNorm: a weight of zeros has vectors of zeros, and no normalised form") {
  Rng rng(4);
  const SpectralNorm layer(zeros({2, 3}), rng);
  CHECK(max(abs(layer.u)).item() == 0);
  CHECK(max(abs(layer.v)).item() == 0);
  CHECK(std::isnan(layer().at({0, 0})));
}

TEST_CASE("SpectralNorm: dim 1 is the transposed weight's dim 0") {
  Rng a(5), b(5), rng(6);
  const Tensor weight = randn({3, 4, 2}, rng, DType::f64);
  const SpectralNorm first(transpose(weight, 0, 1), a), second(weight, b, {.dim = 1});
  CHECK(second.u.shape() == Shape{4});
  CHECK(second.v.shape() == Shape{6});
  CHECK(test::max_difference(transpose(first(), 0, 1), second()) < 1e-12);
  Rng c(5);
  CHECK(test::max_difference(SpectralNorm(weight, c, {.dim = -2})(), second()) == 0);
}

TEST_CASE("gradients of SpectralNorm, with singular vectors that stay and that have just moved") {
  Rng rng(7);
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 4}, Shape{4, 2, 3}}) {
    for (const std::int64_t dim : {0, 1}) {
      CAPTURE(shape);
      CAPTURE(dim);
      const SpectralNorm layer(randn(shape, rng, DType::f64), rng, {.dim = dim});
      const auto f = [&](const std::vector<Tensor>&) { return layer(); };
      const auto first = nn::gradcheck(layer, f, {});
      CHECK_MESSAGE(first.ok, first.report);
      const auto second = nn::gradgradcheck(layer, f, {});
      CHECK_MESSAGE(second.ok, second.report);
      // In training the moved vectors count as constants.
      const Tensor upstream = randn(shape, rng, DType::f64);
      const Tensor in_training = trained(layer);
      const Tensor outside = layer();
      trained(layer);
      const auto gradient = [&](const Tensor& y) {
        return grad({sum(y * upstream)}, {layer.original})[0];
      };
      CHECK(test::max_difference(gradient(in_training), gradient(outside)) < 1e-12);
    }
  }
}

TEST_CASE("SpectralNorm has one parameter and two buffers, and refuses vectors") {
  Rng rng(8);
  const SpectralNorm layer(ones({2, 3}), rng);
  CHECK(nn::parameter_count(layer) == 6);
  CHECK(nn::named_tensors(layer).size() == 3);
  CHECK_THROWS_WITH_AS(SpectralNorm(ones({3}), rng),
                       "SpectralNorm: the weight must have two or more axes, none empty, got [3]",
                       Error);
  CHECK_THROWS_AS(SpectralNorm(ones({3, 0}), rng), Error);
  CHECK_THROWS_AS(SpectralNorm(ones({3, 2}), rng, {.dim = 2}), Error);
  CHECK_THROWS_AS(SpectralNorm(ones({3, 2}), rng, {.power_iterations = 0}), Error);
}

TEST_CASE("SpectralConv2d is a convolution by the normalised weight, with a Conv2d's options") {
  Rng rng(9);
  const nn::SpectralConv2d layer(4, 6, {2, 3}, rng, {.stride = 2, .padding = 1, .groups = 2});
  CHECK(nn::parameter_count(layer) == 6 * 2 * 2 * 3 + 6);
  const Tensor x = randn({2, 4, 5, 6}, rng);
  const Tensor expected =
      conv2d(x, layer.weight(), layer.bias, {.stride = 2, .padding = 1, .groups = 2});
  CHECK(test::max_difference(layer(x), expected) == 0);
  CHECK(test::max_difference(layer.weight(), layer.weight.original) > 0.01);
}
