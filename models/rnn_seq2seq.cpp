// Recurrent sequence-to-sequence models.
#include "models/rnn_seq2seq.h"

#include <utility>
#include <vector>

#include "core/ops.h"
#include "core/scope.h"
#include "models/config_check.h"
#include "models/special_ids.h"
#include "nn/attend.h"
#include "nn/loss.h"
#include "nn/mask.h"

namespace gradzoo::models {
namespace {

void check_config(const RNNSeq2SeqConfig& c) {
  check_sizes("RNNSeq2Seq", c);
  check_dropout("RNNSeq2Seq", c.dropout);
  check(!c.bidirectional || c.hidden_size % 2 == 0,
        "RNNSeq2Seq: hidden_size must be even when bidirectional, got {}", c.hidden_size);
  check(!c.input_feeding || c.attention != nn::ScoreKind::none,
        "RNNSeq2Seq: input_feeding needs an attention, got none");
}

}  // namespace

void RNNSeq2SeqState::select(const Tensor& rows) {
  for (Tensor* part : {&hidden.h, &hidden.c}) {
    if (part->defined()) *part = index_select(*part, 1, rows);
  }
  for (Tensor* part : {&memory, &keys, &mask, &fed}) {
    if (part->defined()) *part = index_select(*part, 0, rows);
  }
}

RNNSeq2Seq::RNNSeq2Seq(const RNNSeq2SeqConfig& given, Rng& rng) : config(given) {
  check_config(config);
  const std::int64_t hidden = config.hidden_size, embedded = config.embedding_dim;
  const std::int64_t encoder_hidden = config.bidirectional ? hidden / 2 : hidden;
  const std::int64_t decoder_in = config.input_feeding ? embedded + hidden : embedded;
  source_embedding = nn::Embedding(config.source_vocab, embedded, rng);
  target_embedding = nn::Embedding(config.target_vocab, embedded, rng);
  encoder = nn::AnyRecurrent(config.cell, embedded, encoder_hidden, rng,
                             {config.num_layers, config.bidirectional, config.dropout});
  decoder = nn::AnyRecurrent(config.cell, decoder_in, hidden, rng,
                             {config.num_layers, false, config.dropout});
  score = nn::make_score(config.attention, hidden, config.attention_rank, rng);
  if (score) attention_proj = nn::Linear(2 * hidden, hidden, rng, {.bias = false});
  generator = nn::Linear(hidden, config.target_vocab, rng);
}

RNNSeq2SeqState RNNSeq2Seq::start(const Tensor& given, const Tensor& given_lengths) const {
  const Scope scope("Encoder");
  check(given.dim() == 2 && given_lengths.shape() == Shape{given.size(0)},
        "RNNSeq2Seq: source must be ids [batch, time] and lengths [batch], got {} and {}",
        given.shape(), given_lengths.shape());
  Tensor source = given, lengths = given_lengths;
  if (config.source_end) {
    const Tensor places = arange(static_cast<double>(source.size(1) + 1), DType::i64);
    const Tensor ends = eq(places, unsqueeze(lengths, 1));  // [b, s + 1]
    source = masked_fill(pad(source, {{0, 0}, {0, 1}}), ends, static_cast<double>(kEos));
    lengths = lengths + 1;
  }
  const Tensor x = dropout(source_embedding(source), config.dropout);  // [b, s, e]
  const auto [memory, last] = encoder(x, lengths);                     // memory [b, s, h]
  RNNSeq2SeqState state;
  state.hidden = config.bidirectional ? nn::side_by_side(last) : last;
  if (!score) return state;
  state.memory = memory;
  state.keys = nn::prepare_keys(*score, memory);
  state.mask = nn::padding_mask(lengths, source.size(1));
  if (config.input_feeding) state.fed = zeros({x.size(0), 1, config.hidden_size}, x.dtype());
  return state;
}

RNNSeq2SeqOutput RNNSeq2Seq::decode(const Tensor& target, RNNSeq2SeqState& state) const {
  const Scope scope("Decoder");
  // The decoder's inputs [b, t, in] -> h~ [b, t, h] (h without attention), and the weights.
  const auto read = [&](const Tensor& x) -> std::pair<Tensor, Tensor> {
    const auto [h, last] = decoder(x, {}, state.hidden);
    state.hidden = last;
    if (!score) return {h, {}};
    const Scope attention("Attention");
    const Tensor scores = nn::prepared_scores(*score, h, state.keys);  // [b, t, s]
    const auto [context, weights] = nn::attend(scores, state.memory, state.mask);
    return {tanh((*attention_proj)(concat({context, h}, 2))), weights};
  };
  const Tensor x = dropout(target_embedding(target), config.dropout);  // [b, t, e]
  if (!config.input_feeding) {
    const auto [readings, weights] = read(x);
    return {generator(dropout(readings, config.dropout)), weights};
  }
  std::vector<Tensor> readings, weights;
  for (const Tensor& embedded : split(x, 1, 1)) {
    const auto [reading, weight] = read(concat({embedded, state.fed}, 2));
    state.fed = reading;
    readings.push_back(reading);
    weights.push_back(weight);
  }
  return {generator(dropout(concat(readings, 1), config.dropout)), concat(weights, 1)};
}

RNNSeq2SeqOutput RNNSeq2Seq::with_weights(const Tensor& source, const Tensor& lengths,
                                          const Tensor& target_in) const {
  const Scope scope("RNNSeq2Seq");
  check(target_in.dim() == 2 && target_in.size(0) == source.size(0) && target_in.size(1) >= 1,
        "RNNSeq2Seq: target_in must be [batch, time], got {} for source {}", target_in.shape(),
        source.shape());
  RNNSeq2SeqState state = start(source, lengths);
  return decode(target_in, state);
}

Tensor RNNSeq2Seq::loss(const Tensor& source, const Tensor& lengths, const Tensor& target_in,
                        const Tensor& target_out, double label_smoothing) const {
  return nn::sequence_cross_entropy((*this)(source, lengths, target_in), target_out,
                                    {.pad = kPad, .label_smoothing = label_smoothing});
}

RNNSeq2SeqOutput RNNSeq2Seq::decode_step_with_weights(const Tensor& tokens,
                                                      RNNSeq2SeqState& state) const {
  const RNNSeq2SeqOutput step = decode(unsqueeze(tokens, 1), state);
  return {squeeze(step.logits, 1), score ? squeeze(step.weights, 1) : Tensor()};
}

}  // namespace gradzoo::models
