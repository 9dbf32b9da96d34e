// Convolution layers: values by hand, first values, all gradients by finite differences.
#include "nn/conv.h"

#include <doctest/doctest.h>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::CausalConv1d;
using nn::Conv1d;
using nn::Conv2d;
using nn::ConvTranspose2d;

namespace {

template <class Layer>
void check_gradients(const Layer& made, const Shape& shape) {
  const Layer layer = nn::to(made, DType::f64);
  const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
  const auto first = nn::gradcheck(layer, f, {test::input(shape, 4)});
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = nn::gradgradcheck(layer, f, {test::input(shape, 5)});
  CHECK_MESSAGE(second.ok, second.report);
}

}  // namespace

TEST_CASE("Conv1d is a weighted sum of neighbours, CausalConv1d of those before") {
  Rng rng(1);
  Conv1d layer(1, 1, 3, rng, {.padding = 1});
  assign(layer.weight, tensor({{{1, 10, 100}}}));
  assign(layer.bias, tensor({1000}));
  const Tensor x = tensor({{{1, 2, 3, 4}}});
  CHECK(layer(x).to_vector<float>() == std::vector<float>{1210, 1321, 1432, 1043});

  CausalConv1d causal(1, 1, 2, rng, {.dilation = 2});
  assign(causal.weight, tensor({{{10, 1}}}));
  assign(causal.bias, tensor({0}));
  CHECK(causal(x).to_vector<float>() == std::vector<float>{1, 2, 13, 24});
}

TEST_CASE("ConvTranspose2d spreads each element over the kernel") {
  Rng rng(2);
  ConvTranspose2d layer(1, 1, {1, 2}, rng, {.stride = {1, 2}, .bias = false});
  assign(layer.weight, tensor({{{{1, 10}}}}));
  const Tensor y = layer(tensor({{{{1, 2, 3}}}}));
  CHECK(y.shape() == Shape{1, 1, 1, 6});
  CHECK(y.to_vector<float>() == std::vector<float>{1, 10, 2, 20, 3, 30});
}

TEST_CASE("convolution layers start uniform in ±1/sqrt(fan in), parameters as on paper") {
  Rng rng(3);
  const auto check_start = [](const auto& layer, const Shape& weight, double bound) {
    CHECK(layer.weight.shape() == weight);
    CHECK(max(abs(layer.weight)).item() <= bound);
    CHECK(max(abs(layer.weight)).item() > 0.98 * bound);
    CHECK(max(abs(layer.bias)).item() <= bound);
    CHECK(nn::parameter_count(layer) == layer.weight.numel() + layer.bias.numel());
  };
  check_start(Conv1d(10, 30, 5, rng, {.groups = 2}), {30, 5, 5}, 0.2);
  check_start(Conv2d(4, 30, {5, 5}, rng), {30, 4, 5, 5}, 0.1);
  check_start(CausalConv1d(5, 30, 5, rng), {30, 5, 5}, 0.2);
  check_start(ConvTranspose2d(30, 8, {5, 5}, rng, {.groups = 2}), {30, 4, 5, 5}, 0.1);
  CHECK(nn::parameter_count(Conv2d(4, 6, 3, rng)) == 6 * 4 * 3 * 3 + 6);
  CHECK(nn::parameter_count(Conv2d(4, 6, 3, rng, {.groups = 2, .bias = false})) == 6 * 2 * 3 * 3);
  CHECK(ConvTranspose2d(30, 8, {5, 5}, rng, {.groups = 2}).bias.shape() == Shape{8});
}

TEST_CASE("gradients of convolution layers") {
  Rng rng(4);
  for (const bool bias : {true, false}) {
    check_gradients(Conv1d(2, 4, 2, rng, {.bias = bias}), {2, 2, 4});
    check_gradients(
        Conv1d(2, 4, 2, rng, {.stride = 2, .padding = 1, .dilation = 2, .groups = 2, .bias = bias}),
        {2, 2, 5});
    check_gradients(Conv2d(2, 2, 2, rng, {.bias = bias}), {2, 2, 3, 3});
    check_gradients(
        Conv2d(2, 4, {2, 1}, rng,
               {.stride = 2, .padding = {1, 0}, .dilation = {2, 1}, .groups = 2, .bias = bias}),
        {1, 2, 4, 3});
    check_gradients(ConvTranspose2d(2, 1, 2, rng, {.bias = bias}), {2, 2, 2, 2});
    check_gradients(ConvTranspose2d(2, 2, {2, 1}, rng,
                                    {.stride = 2,
                                     .padding = {1, 0},
                                     .output_padding = {1, 0},
                                     .dilation = {2, 1},
                                     .groups = 2,
                                     .bias = bias}),
                    {1, 2, 2, 3});
    check_gradients(CausalConv1d(2, 2, 3, rng, {.dilation = 2, .groups = 2, .bias = bias}),
                    {2, 2, 5});
  }
  check_gradients(Conv2d(2, 2, 2, rng), {0, 2, 3, 3});
}

TEST_CASE("convolution layers refuse widths below 1 and groups that do not divide") {
  Rng rng(7);
  CHECK_THROWS_WITH_AS(Conv2d(3, 0, 2, rng),
                       "Conv2d: the widths must be at least 1, got in 3, out 0 and kernel 2 x 2",
                       Error);
  CHECK_THROWS_AS(Conv1d(3, 2, 0, rng), Error);
  CHECK_THROWS_WITH_AS(ConvTranspose2d(4, 6, 3, rng, {.groups = 4}),
                       "ConvTranspose2d: 4 groups must divide in 4 and out 6", Error);
  CHECK_THROWS_WITH_AS(CausalConv1d(1, 1, 2, rng)(ones({2, 3})),
                       "CausalConv1d: x must be [batch, channels, time], got shape [2, 3]", Error);
}
