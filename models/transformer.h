// The encoder-decoder Transformer: "Attention Is All You Need" (Vaswani et al. 2017).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/position.h"
#include "nn/transformer_layer.h"

namespace gradzoo::models {

/// The paper's base model.
struct TransformerConfig {
  std::int64_t source_vocab = 37000;
  std::int64_t target_vocab = 37000;
  std::int64_t d_model = 512;
  std::int64_t num_heads = 8;
  std::int64_t num_encoder_layers = 6;
  std::int64_t num_decoder_layers = 6;
  std::int64_t d_ff = 2048;
  double dropout = 0.1;
  bool norm_first = false;         ///< pre-norm, with one more norm at each end
  std::int64_t max_length = 1024;  ///< of source and target, in tokens

  static void fields(auto& self, auto&& visit) {
    visit("source_vocab", self.source_vocab, "ids of the source, special ones included");
    visit("target_vocab", self.target_vocab, "ids of the target, special ones included");
    visit("d_model", self.d_model, "width of embeddings and layers");
    visit("num_heads", self.num_heads, "attention heads; must divide d_model");
    visit("num_encoder_layers", self.num_encoder_layers, "layers that read the source");
    visit("num_decoder_layers", self.num_decoder_layers, "layers that write the target");
    visit("d_ff", self.d_ff, "inner width of the feed-forward parts");
    visit("dropout", self.dropout, "probability of dropping, from 0 to 1");
    visit("norm_first", self.norm_first, "layer norm before each part instead of after it");
    visit("max_length", self.max_length, "tokens in the longest source or target");
  }
};

/// The encoder's view of a batch of sources: what the decoder attends to.
struct TransformerMemory {
  Tensor states;  ///< [batch, source, d_model]
  Tensor mask;    ///< boolean [batch, 1, source]: true at real tokens
};

/// What a decoder remembers of its rows: the memory, and the tokens so far.
struct TransformerState {
  TransformerMemory memory;
  Tensor tokens;  ///< i64 [rows, time]; undefined before the first step

  /// Row i becomes what row rows[i] was.
  void select(const Tensor& rows);
};

struct Transformer {
  TransformerConfig config;
  nn::Embedding source_embedding, target_embedding;
  nn::SinusoidalPositions positions;
  std::vector<nn::TransformerEncoderLayer> encoder_layers;
  std::vector<nn::TransformerDecoderLayer> decoder_layers;
  std::optional<nn::LayerNorm> encoder_norm, decoder_norm;  ///< with pre-norm only
  nn::Linear generator;

  /// Throws naming the field when the config is not valid.
  Transformer(const TransformerConfig& config, Rng& rng);

  /// source: ids [batch, source], lengths: i64 [batch], the real tokens of each row.
  TransformerMemory encode(const Tensor& source, const Tensor& lengths) const;

  /// Logits for the token after each of `target` [batch, target]: [batch, target, target_vocab].
  /// Position t sees target[0..t] only, so padding at the end changes nothing before it.
  Tensor decode(const Tensor& target, const TransformerMemory& memory) const;

  /// decode(encode()): teacher forcing, `target` starting with the begin symbol.
  Tensor operator()(const Tensor& source, const Tensor& lengths, const Tensor& target) const;

  /// Decoding step by step, for Decoder: logits [rows, target_vocab] after `tokens` i64 [rows].
  TransformerState start(const Tensor& source, const Tensor& lengths) const;
  Tensor decode_step(const Tensor& tokens, TransformerState& state) const;

  static void fields(auto& self, auto&& visit) {
    visit("source_embedding", self.source_embedding);
    visit("target_embedding", self.target_embedding);
    visit("encoder.layers", self.encoder_layers);
    visit("encoder.norm", self.encoder_norm);
    visit("decoder.layers", self.decoder_layers);
    visit("decoder.norm", self.decoder_norm);
    visit("generator", self.generator);
  }
};

}  // namespace gradzoo::models
