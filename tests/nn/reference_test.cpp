// Layers beside PyTorch's: its weights loaded by its names, outputs and every gradient compared.
#include "tests/reference/reference.h"

#include <doctest/doctest.h>

#include "nn/attention.h"
#include "nn/clone.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/module.h"
#include "nn/transformer_layer.h"

using namespace gradzoo;

namespace {

using Inputs = std::vector<Tensor>;

// f(module, inputs, file, dtype) is the output for the recorded inputs.
template <class Module, class F>
void compare(const std::string& name, const Module& made, const F& f) {
  const TensorFile file = test::recorded(name);
  for (const DType dtype : {DType::f64, DType::f32}) {
    CAPTURE(name);
    CAPTURE(name_of(dtype));
    const Module module = nn::to(made, dtype);
    const auto get = [&](const std::string& key) { return test::recorded(file, key, dtype); };
    std::size_t recorded_weights = 0;
    for (const auto& [key, tensor] : file.tensors)
      recorded_weights += key.rfind("weights.", 0) == 0;
    CHECK(recorded_weights == nn::named_tensors(module).size());
    for (const auto& [key, tensor] : nn::named_tensors(module))
      assign(tensor, get("weights." + key));
    Inputs inputs;
    while (file.find("inputs." + std::to_string(inputs.size())).defined()) {
      inputs.push_back(get("inputs." + std::to_string(inputs.size())));
      if (is_floating(inputs.back().dtype())) inputs.back().requires_grad_();
    }
    const Tensor output = f(module, inputs, get);
    test::check_recorded("output", output, get("output"));
    output.backward(get("upstream"));
    for (const auto& [key, tensor] : nn::named_parameters(module)) {
      test::check_recorded(key, tensor.grad(), get("grads.weights." + key));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      const std::string key = "inputs." + std::to_string(i);
      test::check_recorded(key, inputs[i].grad(), get("grads." + key));
    }
  }
}

}  // namespace

TEST_CASE("PyTorch: Linear, Embedding, LayerNorm") {
  Rng rng(1);
  const auto plain = [](const auto& m, const Inputs& in, const auto&) { return m(in[0]); };
  compare("linear", nn::Linear(3, 4, rng), plain);
  compare("embedding", nn::Embedding(7, 3, rng, {.padding_idx = 2}), plain);
  compare("layer_norm", nn::LayerNorm(5), plain);
}

TEST_CASE("PyTorch: MultiheadAttention, causal, and across with padding and without bias") {
  Rng rng(2);
  compare("attention_self", nn::MultiheadAttention(8, 2, rng),
          [](const auto& m, const Inputs& in, const auto& get) {
            return m(in[0], in[0], get("mask"));
          });
  compare("attention_cross", nn::MultiheadAttention(8, 4, rng, {.bias = false}),
          [](const auto& m, const Inputs& in, const auto& get) {
            return m(in[0], in[1], get("mask"));
          });
}

TEST_CASE("PyTorch: Transformer layers, post-norm and pre-norm, with masks") {
  Rng rng(3);
  for (const bool norm_first : {false, true}) {
    const nn::TransformerLayerOptions options{
        .d_model = 8, .num_heads = 2, .d_ff = 6, .dropout = 0, .norm_first = norm_first};
    const std::string kind = norm_first ? "pre" : "post";
    compare("encoder_layer_" + kind, nn::TransformerEncoderLayer(options, rng),
            [](const auto& m, const Inputs& in, const auto& get) { return m(in[0], get("mask")); });
    compare("decoder_layer_" + kind, nn::TransformerDecoderLayer(options, rng),
            [](const auto& m, const Inputs& in, const auto& get) {
              return m(in[0], in[1], get("mask"), get("memory_mask"));
            });
  }
}
