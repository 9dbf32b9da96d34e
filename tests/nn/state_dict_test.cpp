// A state_dict that PyTorch saved as safetensors loads by its names as it is, and the layer then
// gives PyTorch's output; a file that does not fit says everything that is wrong with it.
#include <doctest/doctest.h>

#include "nn/attention.h"
#include "nn/batch_norm.h"
#include "nn/checkpoint.h"
#include "nn/conv.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"
#include "nn/rnn.h"
#include "nn/spectral_norm.h"
#include "nn/transformer_layer.h"
#include "tests/reference/reference.h"

using namespace gradzoo;
using test::recorded;

namespace {

std::string state_path(const std::string& name) {
  return std::string(GRADZOO_SOURCE_ROOT) + "/tests/data/state_" + name + ".safetensors";
}

// Loads the state_dict of that name and runs `call(module, input)`; input(i) is the i-th recorded.
template <class Module, class Call>
void check_loaded(const std::string& name, const Module& module, const Call& call) {
  CAPTURE(name);
  nn::load(state_path(name), module);
  const TensorFile file = recorded("state_outputs");
  const auto input = [&](int i) {
    return recorded(file, name + ".input." + std::to_string(i), DType::f32);
  };
  test::check_recorded(name, call(module, input), recorded(file, name + ".output", DType::f32));
}

const auto plain = [](const auto& m, const auto& in) { return m(in(0)); };

}  // namespace

TEST_CASE("PyTorch's state_dict loads without renaming: attention, packed and with kdim") {
  Rng rng(1);
  check_loaded("attention", nn::MultiheadAttention(4, 2, rng), [](const auto& m, const auto& in) {
    const Tensor x = in(0);
    return m(x, x, x);
  });
  check_loaded("attention_kdim", nn::MultiheadAttention(4, 2, rng, {.kdim = 3}),
               [](const auto& m, const auto& in) { return m(in(0), in(1), in(2)); });
}

TEST_CASE("PyTorch's state_dict loads without renaming: encoder layer, LSTM, norm, convolution") {
  Rng rng(2);
  check_loaded("encoder_layer",
               nn::TransformerEncoderLayer({.d_model = 4, .num_heads = 2, .d_ff = 6}, rng), plain);
  check_loaded("lstm", nn::LSTM(3, 2, rng, {.num_layers = 2, .bidirectional = true}),
               [](const auto& m, const auto& in) { return m(in(0)).output; });
  check_loaded("layer_norm", nn::LayerNorm(5), plain);
  check_loaded("conv2d", nn::Conv2d(2, 3, {2, 3}, rng), plain);
}

TEST_CASE("PyTorch's state_dict loads without renaming: decoder layer, RNN and GRU") {
  Rng rng(4);
  check_loaded("decoder_layer",
               nn::TransformerDecoderLayer({.d_model = 4, .num_heads = 2, .d_ff = 6}, rng),
               [](const auto& m, const auto& in) { return m(in(0), in(1)); });
  const auto output = [](const auto& m, const auto& in) { return m(in(0)).output; };
  check_loaded("rnn",
               nn::RNN(3, 2, rng, {.cell = {.activation = nn::RNNActivation::relu, .bias = false}}),
               output);
  check_loaded("gru", nn::GRU(3, 2, rng, {.num_layers = 2, .bidirectional = true}), output);
}

TEST_CASE("PyTorch's state_dict loads without renaming: layers with a weight and a bias, or two") {
  Rng rng(5);
  check_loaded("linear", nn::Linear(3, 4, rng), plain);
  check_loaded("embedding", nn::Embedding(6, 3, rng, {.padding_idx = 1}), plain);
  check_loaded("rms_norm", nn::RmsNorm(5), plain);
  check_loaded("conv1d", nn::Conv1d(2, 3, 3, rng), plain);
  check_loaded("conv_transpose2d", nn::ConvTranspose2d(2, 3, {2, 3}, rng), plain);
  check_loaded("spectral_conv2d", nn::SpectralConv2d(2, 3, {2, 3}, rng), plain);
}

TEST_CASE("PyTorch's state_dict loads without renaming: batch norm, with its running statistics") {
  const nn::BatchNorm2d norm(3);
  check_loaded("batch_norm2d", norm, plain);
  CHECK(norm.num_batches_tracked.item() == 3);
  CHECK(norm.running_mean.at({0}) != 0);
}

TEST_CASE("LOD1: missing, unexpected and wrong-shape names are one message") {
  Rng rng(3);
  // A file with in_proj_weight, for a layer with kdim and another width.
  const nn::MultiheadAttention layer(6, 2, rng, {.kdim = 3});
  const auto before = layer.out_proj.weight.to_vector<float>();
  const std::string path = state_path("attention");
  CHECK_THROWS_WITH_AS(
      nn::load(path, layer),
      (path + ": does not fit the module: 'q_proj_weight' is missing; 'k_proj_weight' is "
              "missing; 'v_proj_weight' is missing; 'in_proj_bias' is f32 [12] in the "
              "file, f32 [18] in the module; 'out_proj.weight' is f32 [4, 4] in the "
              "file, f32 [6, 6] in the module; 'out_proj.bias' is f32 [4] in the file, "
              "f32 [6] in the module; 'in_proj_weight' is not expected")
          .c_str(),
      Error);
  CHECK(layer.out_proj.weight.to_vector<float>() == before);
}
