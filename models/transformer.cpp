// The encoder-decoder Transformer.
#include "models/transformer.h"

#include <cmath>

#include "core/ops/view.h"
#include "core/scope.h"
#include "models/config_check.h"
#include "nn/loss.h"
#include "nn/mask.h"

namespace gradzoo::models {
namespace {

void check_config(const TransformerConfig& c) {
  check_sizes("Transformer", c);
  check_heads("Transformer", c.num_heads, c.d_model);
  check_dropout("Transformer", c.dropout);
  check(!c.tie_embeddings || c.source_vocab == c.target_vocab,
        "Transformer: tie_embeddings needs one vocabulary, got source_vocab {} and target_vocab {}",
        c.source_vocab, c.target_vocab);
}

// One half of the model, from ids [batch, time] to [batch, time, d_model]; `apply` is a layer.
template <class Layers, class Apply>
Tensor through(const char* half, const TokenEmbedding& embedding, const Tensor& ids,
               const Layers& layers, const std::optional<nn::LayerNorm>& norm, const Apply& apply) {
  const Scope scope(half);
  Tensor x = embedding(ids);
  for (const auto& layer : layers) x = apply(layer, x);
  return norm ? (*norm)(x) : x;
}

}  // namespace

Transformer::Transformer(const TransformerConfig& given, Rng& rng) : config(given) {
  check_config(config);
  const std::int64_t d = config.d_model;
  const nn::TransformerLayerOptions layer{d, config.num_heads, config.d_ff, config.dropout,
                                          config.norm_first};
  // Multiplied by sqrt(d_model) before positions are added, which makes them unit size.
  const auto make_embedding = [&](std::int64_t vocab) {
    return TokenEmbedding(vocab, d, config.positions, config.max_length, rng,
                          std::sqrt(static_cast<double>(d)), config.dropout);
  };
  source_embedding = make_embedding(config.source_vocab);
  target_embedding = make_embedding(config.target_vocab);
  if (config.tie_embeddings) target_embedding.weight = source_embedding.weight;
  const auto add_layers = [&](auto& layers, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      layers.emplace_back(layer, rng);
      layers.back().self_attn.positions =
          attention_positions(config.positions, config.max_length, d / config.num_heads, rng);
    }
  };
  add_layers(encoder_layers, config.num_encoder_layers);
  add_layers(decoder_layers, config.num_decoder_layers);
  if (config.norm_first) {
    encoder_norm.emplace(d);
    decoder_norm.emplace(d);
  }
  generator = nn::Linear(d, config.target_vocab, rng);
  if (config.tie_embeddings) generator.weight = target_embedding.weight;
}

TransformerMemory Transformer::encode(const Tensor& source, const Tensor& lengths) const {
  const Tensor mask = nn::padding_mask(lengths, source.size(1));  // [b, 1, s]
  const auto apply = [&](const auto& layer, const Tensor& x) { return layer(x, mask); };
  return {through("Encoder", source_embedding, source, encoder_layers, encoder_norm, apply), mask};
}

Tensor Transformer::decode(const Tensor& target, const TransformerMemory& memory) const {
  const Tensor causal = nn::causal_mask(target.size(1));  // [t, t]
  const auto apply = [&](const auto& layer, const Tensor& x) {
    return layer(x, memory.states, causal, memory.mask);
  };
  return generator(  // [b, t, vocab]
      through("Decoder", target_embedding, target, decoder_layers, decoder_norm, apply));
}

Tensor Transformer::operator()(const Tensor& source, const Tensor& lengths,
                               const Tensor& target) const {
  const Scope scope("Transformer");
  return decode(target, encode(source, lengths));
}

Tensor Transformer::loss(const Tensor& source, const Tensor& lengths, const Tensor& target_in,
                         const Tensor& target_out, double label_smoothing) const {
  return nn::sequence_cross_entropy((*this)(source, lengths, target_in), target_out,
                                    {.label_smoothing = label_smoothing});
}

TransformerAttention Transformer::attention(const Tensor& source, const Tensor& lengths,
                                            const Tensor& target) const {
  const Scope scope("Transformer");
  TransformerAttention all;
  const Tensor mask = nn::padding_mask(lengths, source.size(1));
  const Tensor memory = through("Encoder", source_embedding, source, encoder_layers, encoder_norm,
                                [&](const auto& layer, const Tensor& x) {
                                  const nn::Attended result = layer.with_weights(x, mask);
                                  all.encoder.push_back(result.weights);
                                  return result.context;
                                });
  const Tensor causal = nn::causal_mask(target.size(1));
  through("Decoder", target_embedding, target, decoder_layers, decoder_norm,
          [&](const auto& layer, const Tensor& x) {
            const nn::DecoderLayerOutput result = layer.with_weights(x, memory, causal, mask);
            all.decoder.push_back(result.self_weights);
            all.memory.push_back(result.memory_weights);
            return result.output;
          });
  return all;
}

void TransformerState::select(const Tensor& rows) {
  const NoGrad no_grad;
  for (nn::DecoderLayerCache& layer : layers) layer.select_rows(rows);
}

TransformerState Transformer::start(const Tensor& source, const Tensor& lengths) const {
  const NoGrad no_grad;
  const TransformerMemory memory = encode(source, lengths);
  TransformerState state;
  for (const auto& layer : decoder_layers) {
    state.layers.push_back(layer.make_cache(memory.states, memory.mask, config.max_length));
  }
  return state;
}

Tensor Transformer::decode_step(const Tensor& tokens, TransformerState& state) const {
  const NoGrad no_grad;
  const Scope scope("Decoder");
  Tensor x = target_embedding(unsqueeze(tokens, 1), state.layers.front().self.length());
  for (std::size_t i = 0; i < decoder_layers.size(); ++i) {
    x = decoder_layers[i].step(x, state.layers[i]);  // [rows, 1, d]
  }
  return squeeze(generator(decoder_norm ? (*decoder_norm)(x) : x), 1);  // [rows, vocab]
}

}  // namespace gradzoo::models
