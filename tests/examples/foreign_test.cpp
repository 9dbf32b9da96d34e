// Files of other programs: what is recognised, and what is wrong with one. Real ones are loaded in
// g2p_test.cpp and nano_sort_test.cpp, where they are at hand.
#include "examples/common/foreign.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "core/serialize.h"
#include "examples/common/search.h"
#include "models/special_ids.h"
#include "tests/core/temporary.h"
#include "tests/examples/small_zoo.h"

using namespace gradzoo;
using namespace gradzoo::examples;
using test::message_of;

namespace {

// A minGPT of two symbols, as its file has it.
TensorFile mingpt() {
  Rng rng(1);
  TensorFile file;
  const auto add = [&](const std::string& name, const Shape& shape) {
    file.tensors.emplace_back(name, randn(shape, rng));
  };
  add("transformer.wte.weight", {2, 4});
  add("transformer.wpe.weight", {6, 4});
  for (const std::string norm : {"h.0.ln_1", "h.0.ln_2", "ln_f"}) {
    add("transformer." + norm + ".weight", {4});
    add("transformer." + norm + ".bias", {4});
  }
  const auto add_linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    add("transformer.h.0." + name + ".weight", {out, in});
    add("transformer.h.0." + name + ".bias", {out});
  };
  add_linear("attn.c_attn", 4, 12);
  add_linear("attn.c_proj", 4, 4);
  add_linear("mlp.c_fc", 4, 5);
  add_linear("mlp.c_proj", 5, 4);
  add("lm_head.weight", {2, 4});
  file.metadata["config"] =
      R"({"n_layer": 1, "n_head": 2, "n_embd": 4, "vocab_size": 2, "block_size": 6})";
  return file;
}

}  // namespace

TEST_CASE("load_foreign: a minGPT continues sources of its own symbols") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "gpt";
  save_tensors(path, mingpt());
  const ZooCheckpoint gpt = load_checkpoint(path);
  CHECK(gpt.continues);
  CHECK(gpt.source.encode("1 0 2") == Ids{5, 4, models::kUnk});
  const auto answer = search(gpt, {{4, 5}}, {0}, {})[0][0];
  CHECK(answer.tokens.size() == 5);  // as long as there are places: it has no end symbol
  for (const std::int64_t id : answer.tokens) CHECK(id >= 4);
}

TEST_CASE("B14, B16, B17: a broken minGPT is named") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "gpt";
  const auto message = [&](const TensorFile& file) {
    save_tensors(path, file);
    return message_of([&] { load_checkpoint(path); });
  };
  TensorFile file = mingpt();
  file.tensors.pop_back();
  CHECK(message(file) == path + ": the tensor lm_head.weight is missing");
  file.tensors.emplace_back("lm_head.weight", zeros({3, 4}));
  CHECK(message(file) == path + ": generator.weight must be [6, 4], is [7, 4]");
  file = mingpt();
  file.metadata["config"] = "not JSON";
  CHECK(message(file).starts_with(path + ": [json.exception"));
  file.metadata["config"] = R"({"n_layer": 1})";
  CHECK(message(file).starts_with(path + ": [json.exception"));
  file.metadata["config"] =
      R"({"n_layer": 1, "n_head": 3, "n_embd": 4, "vocab_size": 2, "block_size": 6})";
  CHECK(message(file).starts_with(path + ": "));
  CHECK(message(file).find("num_heads") != std::string::npos);
}

TEST_CASE("load_foreign: what is ours, or nobody's, is not foreign") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "model";
  save_checkpoint(path, test::small_checkpoint(ModelKind::gru));
  CHECK(!load_foreign(path));
  save_tensors(path, {{{"weight", zeros({2})}}, {}});
  CHECK(!load_foreign(path));
  CHECK(message_of([&] { load_checkpoint(path); }) ==
        path + ": the metadata does not say which model this is");
}

TEST_CASE("load_checkpoint: vocabularies must be those of the model") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "model";
  for (const ModelKind kind : test::kAllKinds) {
    ZooCheckpoint checkpoint = test::small_checkpoint(kind);
    checkpoint.continues = true;
    save_checkpoint(path, checkpoint);
    CHECK(load_checkpoint(path).continues);
    checkpoint.target = task_vocabulary(Task::copy, 6);
    save_checkpoint(path, checkpoint);
    CHECK(message_of([&] { load_checkpoint(path); }) ==
          path + ": the model has 9 and 9 ids for source and target, the vocabularies 9 and 10");
  }
}
