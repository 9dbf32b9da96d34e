// Maps from other people's names and ids to ours.
#include "examples/common/foreign.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/create.h"
#include "core/ops.h"
#include "core/serialize.h"
#include "models/special_ids.h"

namespace gradzoo::examples {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kSpecial = models::kUnk + 1;

// A file whose tensors are asked for by name.
class Source {
 public:
  explicit Source(const std::string& path) : file_(load_tensors(path)) {}

  Tensor find(const std::string& name) const {
    const Tensor found = file_.find(name);
    check(found.defined(), "the tensor {} is missing", name);
    return found;
  }
  nlohmann::json json(const std::string& key) const {
    return nlohmann::json::parse(file_.metadata.at(key));
  }
  // Gives one of our weights its values.
  void give(const std::string& name, const Tensor& weight, const Tensor& value) const {
    check(weight.shape() == value.shape(), "{} must be {}, is {}", name, weight.shape(),
          value.shape());
    assign(weight, value);
  }

 private:
  TensorFile file_;
};

std::int64_t place(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

// One of g2p's vocabularies in the order of our ids.
struct Symbols {
  Vocabulary vocabulary;
  Tensor rows;  // by our id, its own

  // `special`: its names of our special ids.
  Symbols(Level level, const Names& own, const Names& special) {
    Names names;
    for (const std::string& name : own) {
      if (place(special, name) == kSpecial) names.push_back(name);
    }
    vocabulary = Vocabulary(level, names);
    names.insert(names.begin(), special.begin(), special.end());
    Ids ids;
    for (const std::string& name : names) {
      ids.push_back(place(own, name));
      check(ids.back() < std::ssize(own), "the vocabulary has no {}", name);
    }
    rows = from_vector(ids, {std::ssize(ids)});
  }
};

ZooCheckpoint load_g2p(const Source& file) {
  // Nothing begins a source: there our begin symbol stands for its padding.
  const Symbols letters(Level::character, file.json("graphemes").get<Names>(),
                        {"<pad>", "<pad>", "</s>", "<unk>"});
  const Symbols phonemes(Level::word, file.json("phonemes").get<Names>(),
                         {"<pad>", "<s>", "</s>", "<unk>"});
  const std::int64_t width = file.find("enc_w_hh").size(-1);
  Rng rng(0);  // whatever it draws is overwritten
  const models::RNNSeq2Seq model({.source_vocab = letters.vocabulary.size(),
                                  .target_vocab = phonemes.vocabulary.size(),
                                  .cell = nn::CellKind::gru,
                                  .embedding_dim = file.find("enc_emb").size(-1),
                                  .hidden_size = width,
                                  .num_layers = 1,
                                  .attention = nn::ScoreKind::none,
                                  .input_feeding = false,
                                  .dropout = 0,
                                  .source_end = true},
                                 rng);
  std::map<std::string, Tensor> weights{
      {"source_embedding.weight", index_select(file.find("enc_emb"), 0, letters.rows)},
      {"target_embedding.weight", index_select(file.find("dec_emb"), 0, phonemes.rows)},
      {"generator.weight", index_select(file.find("fc_w"), 0, phonemes.rows)},
      {"generator.bias", index_select(file.find("fc_b"), 0, phonemes.rows)}};
  for (const auto& [ours, theirs] : {std::pair{"encoder", "enc"}, std::pair{"decoder", "dec"}}) {
    for (const auto& [our, their] : {std::pair{"weight", "w"}, std::pair{"bias", "b"}}) {
      for (const std::string side : {"ih", "hh"}) {
        weights[fmt::format("{}.{}_{}_l0", ours, our, side)] =
            file.find(fmt::format("{}_{}_{}", theirs, their, side));
      }
    }
  }
  for (const auto& [name, weight] : nn::named_tensors(model)) {
    file.give(name, weight, weights.at(name));
  }
  return {model, letters.vocabulary, phonemes.vocabulary};
}

// minGPT's name of one of our tensors.
std::string mingpt_name(std::string name) {
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

ZooCheckpoint load_mingpt(const Source& file) {
  const nlohmann::json config = file.json("config");
  const auto number = [&](const char* key) { return config.at(key).get<std::int64_t>(); };
  const std::int64_t symbols = number("vocab_size");
  Rng rng(0);  // whatever it draws is overwritten
  models::DecoderLM model({.vocab = kSpecial + symbols,
                           .d_model = number("n_embd"),
                           .num_heads = number("n_head"),
                           .num_layers = number("n_layer"),
                           .d_ff = file.find("transformer.h.0.mlp.c_fc.weight").size(0),
                           .dropout = 0,
                           .tie_embeddings = false,
                           .max_length = number("block_size")},
                          rng);
  for (const auto& [name, weight] : nn::named_tensors(model)) {
    Tensor value = file.find(mingpt_name(name));
    const bool by_id = name == "embedding.weight" || name == "generator.weight";
    if (by_id) value = pad(value, {{kSpecial, 0}, {0, 0}});
    file.give(name, weight, value);
  }
  // It never writes our special ids.
  model.generator->bias = pad(zeros({symbols}), {{kSpecial, 0}}, -1e9);
  Names names;
  for (std::int64_t i = 0; i < symbols; ++i) names.push_back(std::to_string(i));
  const Vocabulary vocabulary(Level::word, names);
  return {model, vocabulary, vocabulary, true};
}

}  // namespace

std::optional<ZooCheckpoint> load_foreign(const std::string& path) {
  const auto metadata = load_metadata(path);
  const bool g2p = metadata.contains("graphemes") && metadata.contains("phonemes");
  const bool mingpt = metadata.contains("config") && !metadata.contains("model");
  if (!g2p && !mingpt) return std::nullopt;
  const Source source(path);
  try {
    return g2p ? load_g2p(source) : load_mingpt(source);
  } catch (const std::exception& error) {
    fail("{}: {}", path, error.what());
  }
}

}  // namespace gradzoo::examples
