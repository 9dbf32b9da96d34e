// Convolution layers beside PyTorch's.
#include <doctest/doctest.h>

#include "nn/conv.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;

namespace {

template <class Layer>
void compare(const std::string& name, const Layer& layer) {
  test::compare(name, layer, [](const auto& m, const auto& in, const auto&) { return m(in[0]); });
}

}  // namespace

TEST_CASE("PyTorch: Conv1d, plain and with every option") {
  Rng rng(1);
  compare("conv1d", nn::Conv1d(2, 3, 3, rng));
  compare("conv1d_options",
          nn::Conv1d(4, 2, 3, rng, {.stride = 2, .padding = 2, .dilation = 2, .groups = 2}));
}

TEST_CASE("PyTorch: Conv2d, plain and with every option") {
  Rng rng(2);
  compare("conv2d", nn::Conv2d(2, 3, {2, 3}, rng));
  compare(
      "conv2d_options",
      nn::Conv2d(
          4, 6, {3, 2}, rng,
          {.stride = {2, 3}, .padding = {1, 2}, .dilation = {2, 1}, .groups = 2, .bias = false}));
}

TEST_CASE("PyTorch: ConvTranspose2d, plain and with every option") {
  Rng rng(3);
  compare("conv_transpose2d", nn::ConvTranspose2d(2, 3, {2, 3}, rng));
  compare("conv_transpose2d_options", nn::ConvTranspose2d(4, 6, {3, 2}, rng,
                                                          {.stride = {2, 3},
                                                           .padding = {1, 0},
                                                           .output_padding = {1, 2},
                                                           .dilation = {2, 1},
                                                           .groups = 2}));
}
