// The encoder-decoder Transformer: "Attention Is All You Need" (Vaswani et al. 2017).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.h"
#include "models/token_embedding.h"
#include "nn/linear.h"
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
  bool norm_first = false;  ///< pre-norm, with one more norm at each end
  Positions positions = Positions::sinusoidal;
  bool tie_embeddings = false;     ///< one matrix reads sources and targets and predicts targets
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
    visit("positions", self.positions, "how tokens know their place");
    visit("tie_embeddings", self.tie_embeddings, "one matrix for both embeddings and the output");
    visit("max_length", self.max_length, "tokens in the longest source or target");
  }
};

/// The encoder's view of a batch of sources: what the decoder attends to.
struct TransformerMemory {
  Tensor states;  ///< [batch, source, d_model]
  Tensor mask;    ///< boolean [batch, 1, source]: true at real tokens
};

/// What is remembered of targets that are being written.
struct TransformerState {
  std::vector<nn::DecoderLayerCache> layers;

  /// Row i becomes what row rows[i] was; i64 [n].
  void select(const Tensor& rows);
};

/// What each head of each layer looks at, a tensor for each layer.
struct TransformerAttention {
  std::vector<Tensor> encoder, decoder;  ///< [batch, heads, time, time] of source and of target
  std::vector<Tensor> memory;            ///< [batch, heads, target, source]
};

struct Transformer {
  static constexpr const char* kName = "transformer";
  TransformerConfig config;
  TokenEmbedding source_embedding, target_embedding;
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

  /// decode(encode()): teacher forcing, `target` beginning with the begin symbol.
  Tensor operator()(const Tensor& source, const Tensor& lengths, const Tensor& target) const;
  /// Mean cross-entropy of target_out, in nats a token, padding not counted.
  Tensor loss(const Tensor& source, const Tensor& lengths, const Tensor& target_in,
              const Tensor& target_out, double label_smoothing = 0) const;
  /// What the heads look at while operator() computes.
  TransformerAttention attention(const Tensor& source, const Tensor& lengths,
                                 const Tensor& target) const;

  /// Reads the sources, for decode_step(). Under NoGrad.
  TransformerState start(const Tensor& source, const Tensor& lengths) const;
  /// Reads one more token of each row, i64 [rows] -> logits of the next, [rows, target_vocab].
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
