// The zoo behind one door.
#include "examples/common/zoo.h"

#include <algorithm>

#include "core/create.h"
#include "core/ops.h"
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

// The encoder's ids: those of the data, and one more that hides an answer.
std::int64_t mask_id(const models::EncoderConfig& config) { return config.vocab - 1; }

// Half of the places are for the source and its begin symbol, the others for the answer.
std::int64_t room(const models::EncoderConfig& config) { return (config.max_length - 1) / 2; }

// Each source, then the begin symbol, then `room` masks.
struct Blanks {
  Tensor ids;      // [batch, time]
  Tensor lengths;  // i64 [batch]
  Tensor places;   // i64 [batch, room]: where the masks are
};

Blanks with_blanks(const models::EncoderConfig& config, const Tensor& source,
                   const Tensor& lengths) {
  const Ids ids = source.to_vector<std::int64_t>();
  std::vector<Ids> rows;
  Ids places, full;
  std::int64_t first = 0;
  for (std::int64_t length : lengths.to_vector<std::int64_t>()) {
    const auto from = ids.begin() + first;
    first += source.size(1);
    rows.emplace_back(from, from + length);
    rows.back().push_back(models::kBos);
    for (std::int64_t i = 0; i < room(config); ++i) {
      places.push_back(std::ssize(rows.back()));
      rows.back().push_back(mask_id(config));
    }
    full.push_back(std::ssize(rows.back()));
  }
  const std::int64_t batch = std::ssize(rows);
  return {padded(rows), from_vector(full, {batch}), from_vector(places, {batch, room(config)})};
}

// Logits [batch, room, vocab] of what is hidden, without the mask symbol itself.
Tensor fill_in(const models::Encoder& model, const Blanks& blanks) {
  const Tensor states = model(blanks.ids, blanks.lengths);  // [b, t, d]
  const Tensor places =
      expand(unsqueeze(blanks.places, 2), {states.size(0), blanks.places.size(1), states.size(2)});
  return slice(model.token_logits(gather(states, 1, places)), 2, 0, mask_id(model.config));
}

// Each row of ids [rows, time] before its end symbol, at most max_length ids.
std::vector<Ids> until_end(const Tensor& ids, std::int64_t max_length) {
  std::vector<Ids> rows;
  for (std::int64_t b = 0; b < ids.size(0); ++b) {
    Ids row = select(ids, 0, b).to_vector<std::int64_t>();
    row.resize(static_cast<std::size_t>(std::min(max_length, ids.size(1))));
    row.erase(std::find(row.begin(), row.end(), models::kEos), row.end());
    rows.push_back(std::move(row));
  }
  return rows;
}

Prediction predict_blanks(const models::Encoder& model, const Batch& batch) {
  const Tensor& targets = batch.target_out;
  const std::int64_t missing = room(model.config) - targets.size(1);
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

double small_lr(ModelKind kind) {
  const bool recurrent =
      kind == ModelKind::rnn || kind == ModelKind::lstm || kind == ModelKind::gru;
  return recurrent ? 5e-3 : 2e-3;
}

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
                 return source + 1 + room(c) <= c.max_length ? room(c) - 1 : -1;
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
  const NoGrad no_grad;
  return std::visit(
      Overload{[&](const models::Encoder& m) {
                 const Tensor logits = fill_in(m, with_blanks(m.config, source, lengths));
                 return until_end(argmax(logits, -1), max_length);
               },
               [&](const auto& m) {
                 std::vector<Ids> all;
                 for (models::Hypothesis& answer : models::greedy(
                          models::Decoder(m, source, lengths), {.max_length = max_length})) {
                   all.push_back(std::move(answer.tokens));
                 }
                 return all;
               }},
      model);
}

void save_checkpoint(const std::string& path, const ZooCheckpoint& checkpoint) {
  const nn::Metadata vocabularies{{"source_vocabulary", checkpoint.source.to_json()},
                                  {"target_vocabulary", checkpoint.target.to_json()}};
  std::visit([&](const auto& m) { models::save_model(path, m, vocabularies); }, checkpoint.model);
}

ZooCheckpoint load_checkpoint(const std::string& path) {
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
  return {model(), vocabulary("source_vocabulary"), vocabulary("target_vocabulary")};
}

}  // namespace gradzoo::examples
