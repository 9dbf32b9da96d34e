// A model trained by others (Kyubyong/g2p, Apache-2.0): English spelling to phonemes, with GRUs and
// no attention. RNNSeq2Seq loads it by name and pronounces as it should.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/create.h"
#include "examples/common/search.h"
#include "nn/clone.h"
#include "tests/core/temporary.h"
#include "tests/examples/real_weights.h"
#include "tests/models/search_laws.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Names = std::vector<std::string>;

Names pronounce(const ZooCheckpoint& g2p, const Names& words) {
  std::vector<Ids> sources;
  for (const std::string& word : words) sources.push_back(g2p.source.encode(word));
  Names texts;
  for (const auto& answers :
       search(g2p, sources, std::vector<std::uint64_t>(words.size()), {.max_length = 20})) {
    texts.push_back(g2p.target.decode(answers[0].tokens));
  }
  return texts;
}

}  // namespace

TEST_CASE("RNNSeq2Seq: g2p-gru pronounces twelve words, alone, in a batch and from a checkpoint") {
  const std::string path = test::real_weights("g2p-gru.safetensors");
  const std::string expected = test::real_weights("g2p-gru-expected.json");
  if (path.empty() || expected.empty()) {
    MESSAGE("skipped: no g2p-gru.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const ZooCheckpoint g2p = load_checkpoint(path);
  Names words, wanted;
  const auto pronunciations = nlohmann::json::parse(test::read_bytes(expected));
  for (const auto& [word, sounds] : pronunciations.items()) {
    words.push_back(word);
    wanted.push_back(sounds);
  }
  REQUIRE(words.size() == 12);
  const test::TemporaryDirectory directory;
  save_checkpoint(directory / "g2p", g2p);
  CHECK(pronounce(load_checkpoint(directory / "g2p"), words) == wanted);
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(pronounce(g2p, {words[i]}) == Names{wanted[i]});
  }
}

TEST_CASE("g2p-gru: the laws of searches hold for what others trained") {
  const std::string path = test::real_weights("g2p-gru.safetensors");
  if (path.empty()) {
    MESSAGE("skipped: no g2p-gru.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const ZooCheckpoint g2p = load_checkpoint(path);
  // In f64: the laws are about the searches, and sums of f32 scores of long words round to 1e-5.
  const auto model = nn::to(std::get<models::RNNSeq2Seq>(g2p.model), DType::f64);
  std::vector<Ids> words;
  Ids sizes;
  for (const char* word : {"gradient", "zoo", "attention"}) {
    words.push_back(g2p.source.encode(word));
    sizes.push_back(std::ssize(words.back()));
  }
  const Tensor source = padded(words), lengths = from_vector(sizes, {3});
  test::law_beam_1_is_greedy(model, source, lengths);
  test::law_scores(model, source, lengths);
  test::law_batch(model, source, lengths);
}
