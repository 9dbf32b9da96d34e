// The models that can be chosen by name, used alike: each learns from a batch and answers sources.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "examples/common/batch.h"
#include "examples/common/vocabulary.h"
#include "models/decoder_lm.h"
#include "models/encoder.h"
#include "models/rnn_seq2seq.h"
#include "models/transformer.h"
#include "nn/module.h"

namespace gradzoo::examples {

using ZooConfig = std::variant<models::TransformerConfig, models::RNNSeq2SeqConfig,
                               models::DecoderLMConfig, models::EncoderConfig>;
using ZooModel =
    std::variant<models::Transformer, models::RNNSeq2Seq, models::DecoderLM, models::Encoder>;

/// The model called that on the command line; rnn, lstm and gru are one model with three cells.
enum class ModelKind { transformer, rnn, lstm, gru, decoder_lm, encoder };
constexpr std::array<const char*, 6> choice_names(ModelKind) {
  return {"transformer", "rnn", "lstm", "gru", "decoder_lm", "encoder"};
}

/// Its config in a size that learns the small tasks in a minute.
ZooConfig small_config(ModelKind kind);
/// The learning rate and the steps that go with it.
double small_lr(ModelKind kind);
std::int64_t small_steps(ModelKind kind);
/// Fields that the data or the kind decide: no options for them.
std::set<std::string> decided_fields(ModelKind kind);
/// Sets the vocabulary sizes. Throws when a model with one vocabulary is given two.
void set_vocabularies(ZooConfig& config, const Vocabulary& source, const Vocabulary& target);
/// Are there places for a source and a target of that many tokens?
bool fits(const ZooConfig& config, std::int64_t source, std::int64_t target);
/// How many places it has, for messages; 0: any number.
std::int64_t places(const ZooConfig& config);
/// The largest answer that may follow a source of that many tokens, begin symbol not counted.
std::int64_t longest_answer(const ZooConfig& config, std::int64_t source);

/// Throws naming the field when the config is not valid.
ZooModel make_model(const ZooConfig& config, Rng& rng);
ZooConfig config_of(const ZooModel& model);
nn::NamedTensors named_parameters(const ZooModel& model);

std::int64_t parameter_count(const ZooModel& model);
/// The width of its states.
std::int64_t width(const ZooModel& model);
/// The same model with weights in f64.
ZooModel in_double(const ZooModel& model);

/// What a model predicts, beside what it should.
struct Prediction {
  Tensor logits;             ///< [batch, time, classes]
  Tensor targets;            ///< i64 [batch, time]
  std::int64_t ignored = 0;  ///< targets that count for nothing
};
/// Teacher forcing. The encoder, which cannot write, reads the source, the begin symbol and as many
/// mask symbols as an answer may need, and fills them in.
Prediction predict(const ZooModel& model, const Batch& batch);
/// The share of the targets that are predicted.
double token_accuracy(const Prediction& prediction);

/// The most likely answer to each source, without special ids, of at most max_length tokens.
std::vector<Ids> answers(const ZooModel& model, const Tensor& source, const Tensor& lengths,
                         std::int64_t max_length);

/// A checkpoint with both vocabularies in it, and back.
struct ZooCheckpoint {
  ZooModel model;
  Vocabulary source, target;
  bool continues = false;  ///< a text: its answers follow the source with no symbol between
};
void save_checkpoint(const std::string& path, const ZooCheckpoint& checkpoint);
/// Throws, naming the path, for what is not a checkpoint, or not whole. Reads foreign.h's files
/// too.
ZooCheckpoint load_checkpoint(const std::string& path);

}  // namespace gradzoo::examples
