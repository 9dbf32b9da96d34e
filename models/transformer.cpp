// The encoder-decoder Transformer.
#include "models/transformer.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/index.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/init.h"
#include "nn/mask.h"

namespace gradzoo::models {
namespace {

void check_config(const TransformerConfig& c) {
  const auto at_least_1 = [](const char* name, std::int64_t value) {
    check(value >= 1, "Transformer: {} must be at least 1, got {}", name, value);
  };
  at_least_1("source_vocab", c.source_vocab);
  at_least_1("target_vocab", c.target_vocab);
  at_least_1("d_model", c.d_model);
  at_least_1("num_heads", c.num_heads);
  at_least_1("num_encoder_layers", c.num_encoder_layers);
  at_least_1("num_decoder_layers", c.num_decoder_layers);
  at_least_1("d_ff", c.d_ff);
  at_least_1("max_length", c.max_length);
  check(c.d_model % c.num_heads == 0,
        "Transformer: num_heads must divide d_model, got num_heads {} and d_model {}", c.num_heads,
        c.d_model);
  check(c.dropout >= 0 && c.dropout < 1, "Transformer: dropout must be in [0, 1), got {}",
        c.dropout);
}

// Embeddings are multiplied by sqrt(d_model) before positions are added: this makes them unit size.
nn::Embedding make_embedding(std::int64_t vocab, std::int64_t d_model, Rng& rng) {
  nn::Embedding embedding(vocab, d_model, rng);
  embedding.weight =
      nn::init::normal({vocab, d_model}, 0, 1 / std::sqrt(static_cast<double>(d_model)), rng);
  return embedding;
}

// Ids [batch, time] -> [batch, time, d_model], with positions.
Tensor embed(const nn::Embedding& embedding, const nn::SinusoidalPositions& positions, double p,
             const Tensor& ids) {
  check(ids.dim() == 2, "Transformer: ids must be [batch, time], got shape {}", ids.shape());
  const double scale = std::sqrt(static_cast<double>(embedding.weight.size(1)));
  return dropout(positions(embedding(ids) * scale), p);
}

}  // namespace

Transformer::Transformer(const TransformerConfig& given, Rng& rng) : config(given) {
  check_config(config);
  const nn::TransformerLayerOptions layer{config.d_model, config.num_heads, config.d_ff,
                                          config.dropout, config.norm_first};
  source_embedding = make_embedding(config.source_vocab, config.d_model, rng);
  target_embedding = make_embedding(config.target_vocab, config.d_model, rng);
  positions = nn::SinusoidalPositions(config.max_length, config.d_model);
  for (int i = 0; i < config.num_encoder_layers; ++i) encoder_layers.emplace_back(layer, rng);
  for (int i = 0; i < config.num_decoder_layers; ++i) decoder_layers.emplace_back(layer, rng);
  if (config.norm_first) {
    encoder_norm.emplace(config.d_model);
    decoder_norm.emplace(config.d_model);
  }
  generator = nn::Linear(config.d_model, config.target_vocab, rng);
}

TransformerMemory Transformer::encode(const Tensor& source, const Tensor& lengths) const {
  const Scope scope("Encoder");
  Tensor x = embed(source_embedding, positions, config.dropout, source);  // [b, s, d]
  const Tensor mask = nn::padding_mask(lengths, source.size(1));          // [b, 1, s]
  for (const auto& layer : encoder_layers) x = layer(x, mask);
  return {encoder_norm ? (*encoder_norm)(x) : x, mask};
}

Tensor Transformer::decode(const Tensor& target, const TransformerMemory& memory) const {
  const Scope scope("Decoder");
  Tensor x = embed(target_embedding, positions, config.dropout, target);  // [b, t, d]
  const Tensor causal = nn::causal_mask(target.size(1));                  // [t, t]
  for (const auto& layer : decoder_layers) x = layer(x, memory.states, causal, memory.mask);
  return generator(decoder_norm ? (*decoder_norm)(x) : x);  // [b, t, vocab]
}

Tensor Transformer::operator()(const Tensor& source, const Tensor& lengths,
                               const Tensor& target) const {
  return decode(target, encode(source, lengths));
}

void TransformerState::select(const Tensor& rows) {
  memory = {index_select(memory.states, 0, rows), index_select(memory.mask, 0, rows)};
  if (tokens.defined()) tokens = index_select(tokens, 0, rows);
}

TransformerState Transformer::start(const Tensor& source, const Tensor& lengths) const {
  return {encode(source, lengths), Tensor()};
}

Tensor Transformer::decode_step(const Tensor& tokens, TransformerState& state) const {
  const Tensor last = unsqueeze(tokens, 1);  // [rows, 1]
  state.tokens = state.tokens.defined() ? concat({state.tokens, last}, 1) : last;
  return select(decode(state.tokens, state.memory), 1, -1);  // [rows, vocab]
}

}  // namespace gradzoo::models
