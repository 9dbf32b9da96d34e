// A model trained by others (bbycroft/llm-viz, MIT): a GPT of 85,728 weights that sorts six
// symbols. DecoderLM loads it by name, computes what it computed, and sorts.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/ops.h"
#include "core/scope.h"
#include "core/serialize.h"
#include "models/decoder_lm.h"
#include "nn/mask.h"
#include "nn/module.h"
#include "tests/models/real_weights.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using models::DecoderLM;
using test::max_difference;

namespace {

// minGPT's name of one of our tensors.
std::string their_name(std::string name) {
  const std::vector<std::pair<std::string, std::string>> map{
      {"embedding.weight", "transformer.wte.weight"},
      {"embedding.positions.weight", "transformer.wpe.weight"},
      {"layers.", "transformer.h."},
      {"self_attn.in_proj_", "attn.c_attn."},
      {"self_attn.out_proj", "attn.c_proj"},
      {"norm1", "ln_1"},
      {"norm2", "ln_2"},
      {"linear1", "mlp.c_fc"},
      {"linear2", "mlp.c_proj"},
      {"generator", "lm_head"}};
  if (name.starts_with("norm.")) return "transformer.ln_f." + name.substr(5);
  for (const auto& [ours, theirs] : map) {
    const std::size_t at = name.find(ours);
    if (at != std::string::npos) name.replace(at, ours.size(), theirs);
  }
  return name;
}

DecoderLM load_nano_sort(const std::string& path) {
  Rng rng(0);
  const DecoderLM model({.vocab = 3,
                         .d_model = 48,
                         .num_heads = 3,
                         .num_layers = 3,
                         .d_ff = 192,
                         .dropout = 0,
                         .tie_embeddings = false,
                         .max_length = 11},
                        rng);
  const TensorFile file = load_tensors(path);
  CHECK(file.tensors.size() == nn::named_tensors(model).size());
  for (const auto& [name, tensor] : nn::named_tensors(model)) {
    CAPTURE(name);
    assign(tensor, file.find(their_name(name)));
  }
  return model;
}

}  // namespace

TEST_CASE("DecoderLM: gpt-nano-sort computes what was recorded, block by block") {
  const std::string path = test::real_weights("gpt-nano-sort.safetensors");
  if (path.empty()) {
    MESSAGE("skipped: no gpt-nano-sort.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const DecoderLM model = load_nano_sort(path);
  CHECK(nn::parameter_count(model) == 85728);
  const TensorFile recorded =
      load_tensors(test::real_weights("gpt-nano-sort-activations.safetensors"));
  const Tensor ids = recorded.find("idx");
  const NoGrad no_grad;
  Tensor x = model.embedding(ids);
  CHECK(max_difference(x, recorded.find("x")) < 1e-5);
  const Tensor causal = nn::causal_mask(ids.size(1));
  CHECK(max_difference(model.layers[0].with_weights(x, causal).weights, recorded.find("attSm")) <
        1e-5);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    x = model.layers[i](x, causal);
    CHECK(max_difference(x, recorded.find("block" + std::to_string(i))) < 1e-5);
  }
  const Tensor none = zeros({ids.size(0), 0}, DType::i64),
               lengths = zeros({ids.size(0)}, DType::i64);
  const Tensor logits = model(none, lengths, ids);
  CHECK(max_difference(logits, recorded.find("lm_head")) < 1e-5);
  CHECK(max_difference(softmax(logits), recorded.find("probs")) < 1e-5);
}

TEST_CASE("DecoderLM: gpt-nano-sort sorts all 729 inputs, step by step") {
  const std::string path = test::real_weights("gpt-nano-sort.safetensors");
  if (path.empty()) {
    MESSAGE("skipped: no gpt-nano-sort.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const DecoderLM model = load_nano_sort(path);
  std::vector<std::int64_t> inputs;
  for (std::int64_t i = 0; i < 729; ++i) {
    for (std::int64_t digit = 0, rest = i; digit < 6; ++digit, rest /= 3)
      inputs.push_back(rest % 3);
  }
  const Tensor source = from_vector(inputs, {729, 6});
  auto state = model.start(slice(source, 1, 0, 5), full({729}, 5, DType::i64));
  Tensor token = select(source, 1, 5);
  std::vector<Tensor> answer;
  for (int step = 0; step < 6; ++step) {
    token = argmax(model.decode_step(token, state), -1);
    answer.push_back(token);
  }
  const std::vector<std::int64_t> got = stack(answer, 1).to_vector<std::int64_t>();
  int right = 0;
  for (std::ptrdiff_t row = 0; row < 729; ++row) {
    std::vector<std::int64_t> sorted(inputs.begin() + 6 * row, inputs.begin() + 6 * row + 6);
    std::sort(sorted.begin(), sorted.end());
    right += std::equal(sorted.begin(), sorted.end(), got.begin() + 6 * row);
  }
  CHECK(right == 729);
}
