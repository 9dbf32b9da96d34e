// The zoo behind one door.
#include "examples/common/zoo.h"

#include <algorithm>

#include "core/ops.h"
#include "core/scope.h"
#include "examples/common/blanks.h"
#include "examples/common/foreign.h"
#include "models/checkpoint.h"
#include "models/decode.h"
#include "nn/clone.h"

namespace gradzoo::examples {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

bool is_recurrent(ModelKind kind) {
  return kind == ModelKind::rnn || kind == ModelKind::lstm || kind == ModelKind::gru;
}

Prediction predict_blanks(const models::Encoder& model, const Batch& batch) {
  const Tensor& targets = batch.target_out;
  const std::int64_t missing = blank_count(model.config) - targets.size(1);
  check(missing >= 0, "Encoder: an answer of {} tokens needs more than max_length {}",
        targets.size(1), model.config.max_length);
  return {fill_in(model, with_blanks(model.config, batch.source, batch.lengths)),
          pad(targets, {{0, 0}, {0, missing}}, static_cast<double>(models::kPad)), models::kPad};
}

}  // namespace

ZooConfig small_config(ModelKind kind) {
  const auto recurrent = [](nn::CellKind cell) {
    return models::RNNSeq2SeqConfig{.cell = cell,
                                    .embedding_dim = 64,
                                    .hidden_size = 64,
                                    .num_layers = 1,
                                    .bidirectional = true,
                                    .attention = nn::ScoreKind::additive,
                                    .attention_rank = 16,
                                    .input_feeding = false,
                                    .dropout = 0};
  };
  switch (kind) {
    case ModelKind::transformer:
      return models::TransformerConfig{.d_model = 64,
                                       .num_heads = 4,
                                       .num_encoder_layers = 2,
                                       .num_decoder_layers = 2,
                                       .d_ff = 256,
                                       .dropout = 0,
                                       .norm_first = true,
                                       .max_length = 64};
    case ModelKind::rnn:
      return recurrent(nn::CellKind::rnn);
    case ModelKind::lstm:
      return recurrent(nn::CellKind::lstm);
    case ModelKind::gru:
      return recurrent(nn::CellKind::gru);
    case ModelKind::decoder_lm:
      return models::DecoderLMConfig{.d_model = 64,
                                     .num_heads = 4,
                                     .num_layers = 3,
                                     .d_ff = 256,
                                     .dropout = 0,
                                     .max_length = 64};
    case ModelKind::encoder:
      return models::EncoderConfig{.d_model = 64,
                                   .num_heads = 4,
                                   .num_layers = 3,
                                   .d_ff = 256,
                                   .dropout = 0,
                                   .norm_first = true,
                                   .max_length = 64};
  }
  fail("small_config: no model has number {}", static_cast<int>(kind));
}

double small_lr(ModelKind kind) { return is_recurrent(kind) ? 5e-3 : 2e-3; }

// A recurrent model needs more steps, which are shorter.
std::int64_t small_steps(ModelKind kind) { return is_recurrent(kind) ? 6000 : 1500; }

std::set<std::string> decided_fields(ModelKind kind) {
  switch (kind) {
    case ModelKind::decoder_lm:
      return {"vocab"};
    case ModelKind::encoder:
      return {"vocab", "num_segments", "num_classes"};
    default:
      return {"source_vocab", "target_vocab", "cell"};
  }
}

void set_vocabularies(ZooConfig& config, const Vocabulary& source, const Vocabulary& target) {
  const auto one = [&](const char* model) {
    check(source.to_json() == target.to_json(),
          "{}: source and target must have one vocabulary, got two", model);
    return source.size();
  };
  std::visit(Overload{[&](models::DecoderLMConfig& c) { c.vocab = one("DecoderLM"); },
                      [&](models::EncoderConfig& c) { c.vocab = one("Encoder") + 1; },
                      [&](auto& c) {
                        c.source_vocab = source.size();
                        c.target_vocab = target.size();
                      }},
             config);
}

std::int64_t longest_answer(const ZooConfig& config, std::int64_t source) {
  constexpr std::int64_t endless = 1'000'000;
  return std::visit(
      Overload{[&](const models::RNNSeq2SeqConfig&) { return endless; },
               [&](const models::TransformerConfig& c) {
                 return source <= c.max_length ? c.max_length - 1 : -1;
               },
               [&](const models::DecoderLMConfig& c) { return c.max_length - 1 - source; },
               [&](const models::EncoderConfig& c) {
                 return source + 1 + blank_count(c) <= c.max_length ? blank_count(c) - 1 : -1;
               }},
      config);
}

bool fits(const ZooConfig& config, std::int64_t source, std::int64_t target) {
  return target <= longest_answer(config, source);
}

std::int64_t places(const ZooConfig& config) {
  return std::visit(Overload{[](const models::RNNSeq2SeqConfig&) { return std::int64_t{0}; },
                             [](const auto& c) { return c.max_length; }},
                    config);
}

ZooModel make_model(const ZooConfig& config, Rng& rng) {
  return std::visit(
      Overload{
          [&](const models::TransformerConfig& c) -> ZooModel {
            return models::Transformer(c, rng);
          },
          [&](const models::RNNSeq2SeqConfig& c) -> ZooModel { return models::RNNSeq2Seq(c, rng); },
          [&](const models::DecoderLMConfig& c) -> ZooModel { return models::DecoderLM(c, rng); },
          [&](const models::EncoderConfig& c) -> ZooModel { return models::Encoder(c, rng); }},
      config);
}

nn::NamedTensors named_parameters(const ZooModel& model) {
  return std::visit([](const auto& m) { return nn::named_parameters(m); }, model);
}

std::int64_t parameter_count(const ZooModel& model) {
  return std::visit([](const auto& m) { return nn::parameter_count(m); }, model);
}

std::int64_t width(const ZooModel& model) {
  return std::visit(Overload{[](const models::RNNSeq2Seq& m) { return m.config.hidden_size; },
                             [](const auto& m) { return m.config.d_model; }},
                    model);
}

ZooModel in_double(const ZooModel& model) {
  return std::visit([](const auto& m) -> ZooModel { return nn::to(m, DType::f64); }, model);
}

Prediction predict(const ZooModel& model, const Batch& batch) {
  return std::visit(Overload{[&](const models::Encoder& m) { return predict_blanks(m, batch); },
                             [&](const auto& m) {
                               return Prediction{m(batch.source, batch.lengths, batch.target_in),
                                                 batch.target_out, models::kPad};
                             }},
                    model);
}

double token_accuracy(const Prediction& p) {
  const NoGrad no_grad;
  const Tensor counted = ne(p.targets, static_cast<double>(p.ignored));
  const Tensor right = logical_and(eq(argmax(p.logits, -1), p.targets), counted);
  const auto count = [](const Tensor& flags) { return sum(to(flags, DType::f64)).item(); };
  return count(right) / std::max(count(counted), 1.0);
}

std::vector<Ids> answers(const ZooModel& model, const Tensor& source, const Tensor& lengths,
                         std::int64_t max_length) {
  std::vector<models::Hypothesis> found = std::visit(
      Overload{[&](const models::Encoder& m) { return fill_in(m, source, lengths, max_length); },
               [&](const auto& m) {
                 return models::greedy(models::Decoder(m, source, lengths),
                                       {.max_length = max_length});
               }},
      model);
  std::vector<Ids> all;
  for (models::Hypothesis& answer : found) all.push_back(std::move(answer.tokens));
  return all;
}

ZooConfig config_of(const ZooModel& model) {
  return std::visit([](const auto& m) -> ZooConfig { return m.config; }, model);
}

void save_checkpoint(const std::string& path, const ZooCheckpoint& checkpoint) {
  nn::Metadata metadata{{"source_vocabulary", checkpoint.source.to_json()},
                        {"target_vocabulary", checkpoint.target.to_json()}};
  if (checkpoint.continues) metadata["continues"] = "true";
  std::visit([&](const auto& m) { models::save_model(path, m, metadata); }, checkpoint.model);
}

namespace {

// Ids that the vocabularies name must be ids of the model, and the other way round.
void check_vocabularies(const std::string& path, const ZooCheckpoint& c) {
  using Sizes = std::pair<std::int64_t, std::int64_t>;
  const auto [source, target] =
      std::visit(Overload{[](const models::DecoderLM& m) {
                            return Sizes{m.config.vocab, m.config.vocab};
                          },
                          [](const models::Encoder& m) {
                            return Sizes{m.config.vocab - 1, m.config.vocab - 1};
                          },
                          [](const auto& m) {
                            return Sizes{m.config.source_vocab, m.config.target_vocab};
                          }},
                 c.model);
  check(source == c.source.size() && target == c.target.size(),
        "{}: the model has {} and {} ids for source and target, the vocabularies {} and {}", path,
        source, target, c.source.size(), c.target.size());
}

}  // namespace

ZooCheckpoint load_checkpoint(const std::string& path) {
  if (auto foreign = load_foreign(path)) return std::move(*foreign);
  const nn::Metadata metadata = load_metadata(path);
  const auto vocabulary = [&](const std::string& key) {
    const auto found = metadata.find(key);
    check(found != metadata.end(), "{}: the metadata has no {}", path, key);
    return Vocabulary::from_json(found->second, path + ": " + key);
  };
  const std::string name = models::model_name(path);
  const auto model = [&]() -> ZooModel {
    if (name == models::Transformer::kName) return models::load_model<models::Transformer>(path);
    if (name == models::RNNSeq2Seq::kName) return models::load_model<models::RNNSeq2Seq>(path);
    if (name == models::DecoderLM::kName) return models::load_model<models::DecoderLM>(path);
    if (name == models::Encoder::kName) return models::load_model<models::Encoder>(path);
    fail("{}: no model here is called '{}'", path, name);
  };
  ZooCheckpoint checkpoint{model(), vocabulary("source_vocabulary"),
                           vocabulary("target_vocabulary"), metadata.contains("continues")};
  check_vocabularies(path, checkpoint);
  return checkpoint;
}

}  // namespace gradzoo::examples
