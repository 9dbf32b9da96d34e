// BatchNorm: its statistics by hand, running and of the batch, and all gradients by finite
// differences.
#include "nn/batch_norm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/scope.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::BatchNorm1d;
using nn::BatchNorm2d;

namespace {

template <class Layer>
Tensor trained(const Layer& layer, const Tensor& x) {
  Rng rng(1);
  const TrainingScope training(rng);
  return layer(x);
}

// A layer in f64 with none of its values as they start.
template <class Layer>
Layer randomized(const Layer& made, std::uint64_t seed) {
  Rng rng(seed);
  const Layer layer = nn::to(made, DType::f64);
  for (const auto& [name, t] : nn::named_tensors(layer)) {
    if (is_floating(t.dtype())) assign(t, rand(t.shape(), rng, DType::f64) + 0.5);
  }
  return layer;
}

}  // namespace

TEST_CASE("BatchNorm in training: the batch's statistics, and running ones that follow them") {
  const BatchNorm1d layer(2, {.eps = 0});
  // Channel 0: mean 3, biased variance 4, unbiased 6. Channel 1: mean 10, 24 and 36.
  const Tensor x = tensor({{3 - std::sqrt(6), 16}, {3, 10}, {3 + std::sqrt(6), 4}});
  const double root = std::sqrt(1.5);
  CHECK(test::max_difference(trained(layer, x), tensor({{-root, root}, {0, 0}, {root, -root}})) <
        1e-6);
  CHECK(test::max_difference(layer.running_mean, tensor({0.3, 1})) < 1e-6);
  CHECK(test::max_difference(layer.running_var, tensor({0.9 + 0.6, 0.9 + 3.6})) < 1e-6);
  CHECK(layer.num_batches_tracked.item() == 1);
  trained(layer, x);
  CHECK(test::max_difference(layer.running_mean, tensor({0.57, 1.9})) < 1e-6);
  CHECK(layer.num_batches_tracked.item() == 2);
}

TEST_CASE("BatchNorm that tracks nothing takes the batch's statistics, outside training too") {
  const BatchNorm1d tracked(3), plain(3, {.track_running_stats = false});
  CHECK(nn::named_tensors(plain).size() == 2);
  CHECK(nn::parameter_count(plain) == 6);
  const Tensor x = to(test::input({4, 3, 2}, 11).detach(), DType::f32);
  const Tensor expected = trained(tracked, x);
  CHECK(test::max_difference(plain(x), expected) == 0);
  CHECK(test::max_difference(trained(plain, x), expected) == 0);
  CHECK_THROWS_AS(plain(ones({1, 3})), Error);
}

TEST_CASE("BatchNorm outside training: the running statistics, which stay as they are") {
  const BatchNorm1d layer(2, {.eps = 3});
  assign(layer.running_mean, tensor({1, 2}));
  assign(layer.running_var, tensor({1, 6}));
  assign(layer.weight, tensor({2, 3}));
  assign(layer.bias, tensor({5, 7}));
  CHECK(layer(tensor({{3, 8}})).to_vector<float>() == std::vector<float>{7, 13});
  CHECK(layer.running_mean.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(layer.num_batches_tracked.item() == 0);
  CHECK(layer(zeros({0, 2, 5})).shape() == Shape{0, 2, 5});
}

TEST_CASE("BatchNorm without momentum keeps the plain average of all batches") {
  const BatchNorm1d layer(1, {.momentum = {}});
  trained(layer, tensor({{0}, {2}}));
  trained(layer, tensor({{4}, {8}}));
  trained(layer, tensor({{1}, {3}}));
  CHECK(layer.running_mean.item() == doctest::Approx((1 + 6 + 2) / 3.0));
  CHECK(layer.running_var.item() == doctest::Approx((2 + 8 + 2) / 3.0));
}

TEST_CASE("BatchNorm has two parameters for each channel, or none, and three buffers") {
  const BatchNorm2d layer(7);
  CHECK(nn::parameter_count(layer) == 14);
  std::vector<std::string> names;
  for (const auto& [name, t] : nn::named_tensors(layer)) names.push_back(name);
  CHECK(names == std::vector<std::string>{"weight", "bias", "running_mean", "running_var",
                                          "num_batches_tracked"});
  CHECK(nn::parameter_count(BatchNorm1d(7, {.affine = false})) == 0);
  CHECK(nn::named_tensors(BatchNorm1d(7, {.affine = false})).size() == 3);
}

TEST_CASE("BatchNorm: the order of batch and places does not matter to the statistics") {
  const BatchNorm1d flat(3), sequences(3);
  const BatchNorm2d images(3);
  Rng rng(4);
  const Tensor x = randn({2, 3, 4, 5}, rng);
  const Tensor y = trained(images, x);
  CHECK(test::max_difference(reshape(y, {2, 3, 20}), trained(sequences, reshape(x, {2, 3, 20}))) <
        1e-6);
  const auto rows = [](const Tensor& t) { return reshape(permute(t, {0, 2, 3, 1}), {40, 3}); };
  CHECK(test::max_difference(rows(y), trained(flat, rows(x))) < 1e-6);
  CHECK(test::max_difference(images.running_var, flat.running_var) < 1e-6);
}

TEST_CASE("gradients of BatchNorm, with the statistics of the batch and with running ones") {
  const auto verify = [](const auto& layer, const Shape& shape, bool training) {
    CAPTURE(shape);
    CAPTURE(training);
    const auto f = [&](const std::vector<Tensor>& in) {
      return training ? trained(layer, in[0]) : layer(in[0]);
    };
    const auto first = nn::gradcheck(layer, f, {test::input(shape, 5)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = nn::gradgradcheck(layer, f, {test::input(shape, 6)});
    CHECK_MESSAGE(second.ok, second.report);
  };
  for (const bool training : {true, false}) {
    for (const bool affine : {true, false}) {
      const BatchNorm1d sequences = randomized(BatchNorm1d(3, {.affine = affine}), 7);
      verify(sequences, {4, 3}, training);
      verify(sequences, {2, 3, 5}, training);
      verify(randomized(BatchNorm2d(3, {.affine = affine}), 8), {2, 3, 2, 3}, training);
    }
  }
}

TEST_CASE("BatchNorm: training between evaluation and its backward disturbs nothing") {
  const BatchNorm1d layer = randomized(BatchNorm1d(2), 9);
  const Tensor x = test::input({3, 2}, 10);
  const Tensor before = layer.running_var;
  const Tensor slope = (layer.weight / sqrt(before + 1e-5)).detach();
  const Tensor y = layer(x);
  trained(layer, test::input({3, 2}, 11));
  sum(y).backward();
  CHECK(test::max_difference(x.grad(), expand(slope, {3, 2})) < 1e-12);
}

TEST_CASE("BatchNorm refuses what does not fit") {
  const BatchNorm1d layer(2);
  CHECK_THROWS_WITH_AS(layer(zeros({3})),
                       "BatchNorm: x must have 2 to 3 axes, [batch, channels, ...], got [3]",
                       Error);
  CHECK_THROWS_AS(BatchNorm2d(2)(zeros({3, 2, 4})), Error);
  CHECK_THROWS_WITH_AS(layer(zeros({2, 3})),
                       "BatchNorm: x must have 2 channels on axis 1, got [2, 3]", Error);
  CHECK_THROWS_WITH_AS(trained(layer, zeros({1, 2})),
                       "BatchNorm: training needs at least 2 values for each channel, got [1, 2]",
                       Error);
  CHECK(layer.num_batches_tracked.item() == 0);
  CHECK_THROWS_AS(trained(layer, zeros({0, 2, 5})), Error);
  CHECK_THROWS_AS(BatchNorm1d(0), Error);
}
