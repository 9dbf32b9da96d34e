// Self-attention on images: by hand, its laws, the identity it starts as, PyTorch's values, all
// gradients.
#include "nn/image_attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "core/scope.h"
#include "tests/nn/layers_test.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

// In f64, and with a gamma that is not 0.
template <class Layer>
Layer awake(std::int64_t channels, const ImageAttentionOptions& options, std::uint64_t seed) {
  Rng rng(seed);
  const Layer layer = nn::to(Layer(channels, rng, options), DType::f64);
  assign(layer.gamma, tensor({0.7}, DType::f64));
  return layer;
}

// Positions in the order given, along the width of an image of one row.
Tensor reordered(const Tensor& image, const Tensor& order) { return index_select(image, 3, order); }

}  // namespace

TEST_CASE("SAG1: each query's weights add up to 1, and the sum over keys is a matrix product") {
  ImageAttention layer = awake<ImageAttention>(1, {.reduction = 1, .bias = false}, 1);
  // f(x) = x, g(x) = log 2 * x, h(x) = x, v(o) = o: position j gives position i, in proportion,
  // the weight 2^(x_j x_i).
  assign(layer.f.weight, ones({1, 1, 1, 1}, DType::f64));
  assign(layer.g.weight, full({1, 1, 1, 1}, std::log(2.0), DType::f64));
  assign(layer.h.weight, ones({1, 1, 1, 1}, DType::f64));
  assign(layer.v.weight, ones({1, 1, 1, 1}, DType::f64));
  assign(layer.gamma, tensor({2}, DType::f64));
  const Attended got = layer.with_weights(tensor({{{{0, 1}, {2, 3}}}}, DType::f64));
  const Tensor weights = tensor({{{1. / 4, 1. / 4, 1. / 4, 1. / 4},
                                  {1. / 15, 2. / 15, 4. / 15, 8. / 15},
                                  {1. / 85, 4. / 85, 16. / 85, 64. / 85},
                                  {1. / 585, 8. / 585, 64. / 585, 512. / 585}}},
                                DType::f64);
  CHECK(test::max_difference(got.weights, weights) < 1e-14);
  CHECK(test::max_difference(sum(got.weights, {2}), ones({1, 4}, DType::f64)) < 1e-14);
  // o = 6/4, 34/15, 228/85, 1672/585, and the image itself is added to 2 o.
  const Tensor output =
      tensor({{{{3, 1 + 68. / 15}, {2 + 456. / 85, 3 + 3344. / 585}}}}, DType::f64);
  CHECK(test::max_difference(got.context, output) < 1e-13);
}

TEST_CASE(
    "image attention starts as the identity, bit for bit, and only gamma can learn at first") {
  Rng rng(2);
  const ImageAttention layer(16, rng);
  CHECK(layer.f.weight.shape() == Shape{2, 16, 1, 1});
  const Tensor x = randn({2, 16, 3, 4}, rng).requires_grad_();
  const Tensor y = layer(x);
  CHECK(y.to_vector<float>() == x.to_vector<float>());
  const Tensor upstream = randn(y.shape(), rng);
  y.backward(upstream);
  CHECK(x.grad().to_vector<float>() == upstream.to_vector<float>());
  CHECK(std::abs(layer.gamma.grad().item()) > 0.01);
  CHECK(max(abs(layer.v.weight.grad())).item() == 0);
}

TEST_CASE("image attention: with and without weights one output; each image is on its own") {
  const ImageAttention layer = awake<ImageAttention>(4, {.reduction = 2}, 3);
  const Tensor x = test::input({3, 4, 2, 5}, 1).detach();
  const Attended all = layer.with_weights(x);
  CHECK(all.weights.shape() == Shape{3, 10, 10});
  CHECK(test::max_difference(all.context, layer(x)) == 0);
  CHECK(test::max_difference(slice(all.context, 0, 1, 2), layer(slice(x, 0, 1, 2))) < 1e-12);
}

TEST_CASE("image attention knows no places: reordered positions give a reordered output") {
  const ImageAttention layer = awake<ImageAttention>(4, {.reduction = 2}, 4);
  const Tensor x = test::input({2, 4, 1, 4}, 2).detach();
  const Tensor order = tensor({2, 0, 3, 1}, DType::i64);
  const Tensor got = layer(reordered(x, order));
  CHECK(test::max_difference(got, reordered(layer(x), order)) < 1e-12);
  const Tensor upright = layer(reshape(x, {2, 4, 2, 2}));
  CHECK(test::max_difference(reshape(upright, x.shape()), layer(x)) < 1e-12);
}

TEST_CASE("image attention has three narrow convolutions, a wide one and gamma") {
  Rng rng(5);
  const std::int64_t c = 16, inner = 2;
  CHECK(nn::parameter_count(ImageAttention(c, rng)) == 4 * c * inner + 3 * inner + c + 1);
  CHECK(nn::parameter_count(ImageAttention(c, rng, {.bias = false})) == 4 * c * inner + 1);
  const SpectralImageAttention spectral(c, rng);
  CHECK(nn::parameter_count(spectral) == 4 * c * inner + 3 * inner + c + 1);
  CHECK(nn::named_tensors(spectral).size() == 9 + 8);  // u and v of each weight besides
}

TEST_CASE("gradients of image attention, output and weights, plain and spectral") {
  const auto check_all = [](const auto& layer) {
    const auto f = [&](const std::vector<Tensor>& in) {
      const Attended got = layer.with_weights(in[0]);
      return concat({reshape(got.context, {-1}), reshape(got.weights, {-1})}, 0);
    };
    const auto first = nn::gradcheck(layer, f, {test::input({2, 4, 2, 3}, 3)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = nn::gradgradcheck(layer, f, {test::input({2, 4, 2, 2}, 4)});
    CHECK_MESSAGE(second.ok, second.report);
  };
  check_all(awake<ImageAttention>(4, {.reduction = 2}, 6));
  check_all(awake<ImageAttention>(4, {.reduction = 3, .bias = false}, 7));
  check_all(awake<SpectralImageAttention>(4, {.reduction = 2}, 8));
}

TEST_CASE("PyTorch: image attention, and with spectral normalisation in training") {
  Rng rng(9);
  test::compare("image_attention", ImageAttention(4, rng, {.reduction = 2}),
                [](const auto& m, const auto& in, const auto& get) {
                  const Attended got = m.with_weights(in[0]);
                  test::check_recorded("attention", got.weights, get("attention"));
                  return got.context;
                });
  test::compare("image_attention_spectral", SpectralImageAttention(4, rng, {.reduction = 2}),
                [&](const auto& m, const auto& in, const auto& get) {
                  const TrainingScope training(rng);
                  const Tensor y = m(in[0]);
                  for (const auto& [name, tensor] : nn::named_tensors(m)) {
                    if (tensor.requires_grad()) continue;
                    test::check_recorded(name, tensor, get("after." + name));
                  }
                  return y;
                });
}

TEST_CASE("image attention of no images, and what it refuses") {
  Rng rng(10);
  const ImageAttention layer(8, rng);
  CHECK(layer(zeros({0, 8, 2, 3})).shape() == Shape{0, 8, 2, 3});
  CHECK_THROWS_WITH_AS(layer(zeros({8, 2, 3})),
                       "ImageAttention: x must be [batch, channels, height, width], got [8, 2, 3]",
                       Error);
  CHECK_THROWS_AS(layer(zeros({1, 4, 2, 3})), Error);
  CHECK_THROWS_WITH_AS(
      ImageAttention(7, rng),
      "ImageAttention: there must be at least one of 7 channels after a reduction by 8", Error);
  CHECK_THROWS_AS(ImageAttention(7, rng, {.reduction = 0}), Error);
}
