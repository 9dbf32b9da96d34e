// A model trained by others (bbycroft/llm-viz, MIT): a GPT of 85,728 weights that sorts six
// symbols. DecoderLM loads it by name, computes what it computed, and sorts.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/ops.h"
#include "core/scope.h"
#include "core/serialize.h"
#include "examples/common/search.h"
#include "models/special_ids.h"
#include "nn/mask.h"
#include "nn/module.h"
#include "tests/examples/real_weights.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::max_difference;

namespace {

// Behind our special ids, and without them.
constexpr std::int64_t kSpecial = models::kUnk + 1;

Tensor own(const Tensor& logits) { return slice(logits, 2, kSpecial); }

}  // namespace

TEST_CASE("DecoderLM: gpt-nano-sort computes what was recorded, block by block") {
  const std::string path = test::real_weights("gpt-nano-sort.safetensors");
  if (path.empty()) {
    MESSAGE("skipped: no gpt-nano-sort.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const ZooCheckpoint checkpoint = load_checkpoint(path);
  const auto& model = std::get<models::DecoderLM>(checkpoint.model);
  // Its own, and what the special ids add to two matrices.
  CHECK(nn::parameter_count(model) == 85728 + 2 * kSpecial * 48);
  const TensorFile recorded =
      load_tensors(test::real_weights("gpt-nano-sort-activations.safetensors"));
  const Tensor ids = recorded.find("idx") + kSpecial;
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
  CHECK(max_difference(own(logits), recorded.find("lm_head")) < 1e-5);
  CHECK(max_difference(own(softmax(logits)), recorded.find("probs")) < 1e-5);
}

TEST_CASE("DecoderLM: gpt-nano-sort sorts all 729 inputs, step by step") {
  const std::string path = test::real_weights("gpt-nano-sort.safetensors");
  if (path.empty()) {
    MESSAGE("skipped: no gpt-nano-sort.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const ZooCheckpoint checkpoint = load_checkpoint(path);
  CHECK(checkpoint.continues);
  std::vector<Ids> sources;
  for (std::int64_t i = 0; i < 729; ++i) {
    sources.emplace_back();
    for (std::int64_t digit = 0, rest = i; digit < 6; ++digit, rest /= 3) {
      sources.back().push_back(kSpecial + rest % 3);
    }
  }
  CHECK(checkpoint.source.decode(sources[5]) == "2 1 0 0 0 0");
  const auto found = search(checkpoint, sources, std::vector<std::uint64_t>(729), {});
  int right = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Ids sorted = sources[i];
    std::sort(sorted.begin(), sorted.end());
    right += found[i][0].tokens == sorted && !found[i][0].finished;
  }
  CHECK(right == 729);
}
