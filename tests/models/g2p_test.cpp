// A model trained by others (Kyubyong/g2p, Apache-2.0): English spelling to phonemes, with GRUs and
// no attention. RNNSeq2Seq loads it by name and pronounces as it should.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/ops.h"
#include "core/serialize.h"
#include "models/checkpoint.h"
#include "models/decode.h"
#include "models/rnn_seq2seq.h"
#include "tests/core/temporary.h"
#include "tests/models/real_weights.h"
#include "tests/models/search_laws.h"

using namespace gradzoo;
using models::RNNSeq2Seq;

namespace {

using Names = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;

std::int64_t place(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

// One of its vocabularies in the order of our ids: first pad, begin, end and unknown symbol.
struct Symbols {
  Names names;  // by our id
  Tensor rows;  // by our id, its own

  Symbols(const std::string& json, const Names& special) : names(special) {
    const auto own = nlohmann::json::parse(json).get<Names>();
    for (const std::string& name : own) {
      if (place(special, name) == 4) names.push_back(name);
    }
    Ids ids;
    for (const std::string& name : names) ids.push_back(place(own, name));
    rows = from_vector(ids, {size()});
  }
  std::int64_t size() const { return static_cast<std::int64_t>(names.size()); }
};

struct G2p {
  TensorFile file;
  Symbols letters, phonemes;

  explicit G2p(const std::string& path)
      : file(load_tensors(path)),
        // Nothing begins a source: there our begin symbol stands for its padding.
        letters(file.metadata.at("graphemes"), {"<pad>", "<pad>", "</s>", "<unk>"}),
        phonemes(file.metadata.at("phonemes"), {"<pad>", "<s>", "</s>", "<unk>"}) {}

  RNNSeq2Seq model() const {
    std::map<std::string, Tensor> weights{
        {"source_embedding.weight", index_select(file.find("enc_emb"), 0, letters.rows)},
        {"target_embedding.weight", index_select(file.find("dec_emb"), 0, phonemes.rows)},
        {"generator.weight", index_select(file.find("fc_w"), 0, phonemes.rows)},
        {"generator.bias", index_select(file.find("fc_b"), 0, phonemes.rows)}};
    for (const auto& [ours, theirs] : {std::pair{"encoder", "enc"}, std::pair{"decoder", "dec"}}) {
      const std::string our = ours, their = theirs;
      weights[our + ".weight_ih_l0"] = file.find(their + "_w_ih");
      weights[our + ".weight_hh_l0"] = file.find(their + "_w_hh");
      weights[our + ".bias_ih_l0"] = file.find(their + "_b_ih");
      weights[our + ".bias_hh_l0"] = file.find(their + "_b_hh");
    }
    Rng rng(0);
    const RNNSeq2Seq model({.source_vocab = letters.size(),
                            .target_vocab = phonemes.size(),
                            .cell = nn::CellKind::gru,
                            .embedding_dim = 256,
                            .hidden_size = 256,
                            .num_layers = 1,
                            .attention = nn::ScoreKind::none,
                            .input_feeding = false,
                            .dropout = 0,
                            .source_end = true},
                           rng);
    for (const auto& [name, tensor] : nn::named_tensors(model)) assign(tensor, weights.at(name));
    return model;
  }

  // Words as a batch, with their lengths.
  std::pair<Tensor, Tensor> encode(const Names& words) const {
    std::size_t longest = 0;
    for (const std::string& word : words) longest = std::max(longest, word.size());
    Ids ids, lengths;
    for (const std::string& word : words) {
      for (const char letter : word) ids.push_back(place(letters.names, std::string(1, letter)));
      ids.resize(ids.size() + longest - word.size(), models::kPad);
      lengths.push_back(static_cast<std::int64_t>(word.size()));
    }
    const auto n = static_cast<std::int64_t>(words.size());
    return {from_vector(ids, {n, static_cast<std::int64_t>(longest)}), from_vector(lengths, {n})};
  }

  Names answers(const RNNSeq2Seq& model, const Names& words) const {
    const auto [source, lengths] = encode(words);
    Names texts;
    for (const auto& answer :
         models::greedy(models::Decoder(model, source, lengths), {.max_length = 20})) {
      std::string text;
      for (const std::int64_t id : answer.tokens) {
        text += (text.empty() ? "" : " ") + phonemes.names.at(static_cast<std::size_t>(id));
      }
      texts.push_back(text);
    }
    return texts;
  }
};

}  // namespace

TEST_CASE("RNNSeq2Seq: g2p-gru pronounces twelve words, alone, in a batch and from a checkpoint") {
  const std::string path = test::real_weights("g2p-gru.safetensors");
  const std::string expected = test::real_weights("g2p-gru-expected.json");
  if (path.empty() || expected.empty()) {
    MESSAGE("skipped: no g2p-gru.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const G2p g2p(path);
  Names words, wanted;
  const auto pronunciations = nlohmann::json::parse(test::read_bytes(expected));
  for (const auto& [word, sounds] : pronunciations.items()) {
    words.push_back(word);
    wanted.push_back(sounds);
  }
  REQUIRE(words.size() == 12);
  const test::TemporaryDirectory directory;
  models::save_model(directory / "g2p", g2p.model());
  const auto model = models::load_model<RNNSeq2Seq>(directory / "g2p");
  CHECK(g2p.answers(model, words) == wanted);
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(g2p.answers(model, {words[i]}) == Names{wanted[i]});
  }
}

TEST_CASE("g2p-gru: the laws of searches hold for what others trained") {
  const std::string path = test::real_weights("g2p-gru.safetensors");
  if (path.empty()) {
    MESSAGE("skipped: no g2p-gru.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights");
    return;
  }
  const G2p g2p(path);
  const RNNSeq2Seq model = g2p.model();
  const auto [source, lengths] = g2p.encode({"gradient", "zoo", "attention"});
  test::law_beam_1_is_greedy(model, source, lengths);
  test::law_scores(model, source, lengths);
  test::law_batch(model, source, lengths);
}
