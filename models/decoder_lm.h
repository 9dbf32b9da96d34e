// The decoder-only language model: GPT (Radford et al. 2018), with the norm before each part and
// the initial values of GPT-2 (Radford et al. 2019).
//
// It continues a text, or a source: then the sequence is the source, the begin symbol and the
// target, and the loss is that of the target alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.h"
#include "models/token_embedding.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/transformer_layer.h"

namespace gradzoo::models {

/// GPT-2's smallest model.
struct DecoderLMConfig {
  std::int64_t vocab = 50257;
  std::int64_t d_model = 768;
  std::int64_t num_heads = 12;
  std::int64_t num_layers = 12;
  std::int64_t d_ff = 3072;
  double dropout = 0.1;
  Positions positions = Positions::learned;
  bool tie_embeddings = true;
  std::int64_t max_length = 1024;

  static void fields(auto& self, auto&& visit) {
    visit("vocab", self.vocab, "ids, special ones included");
    visit("d_model", self.d_model, "width of embeddings and layers");
    visit("num_heads", self.num_heads, "attention heads; must divide d_model");
    visit("num_layers", self.num_layers, "blocks of attention and feed-forward");
    visit("d_ff", self.d_ff, "inner width of the feed-forward parts");
    visit("dropout", self.dropout, "probability of dropping, from 0 to 1");
    visit("positions", self.positions, "how tokens know their place");
    visit("tie_embeddings", self.tie_embeddings, "one matrix reads tokens and predicts them");
    visit("max_length", self.max_length, "tokens in the longest sequence");
  }
};

/// What is remembered of sequences that are being written.
struct DecoderLMState {
  std::vector<nn::KvCache> layers;
  Tensor padding;  ///< i64 [rows]: places before each row's first token, which count for nothing

  /// Row i becomes what row rows[i] was; i64 [n].
  void select(const Tensor& rows);
};

struct DecoderLM {
  static constexpr const char* kName = "decoder_lm";

  DecoderLMConfig config;
  TokenEmbedding embedding;
  std::vector<nn::TransformerEncoderLayer> layers;  ///< causal, so decoders without a memory
  nn::LayerNorm norm;
  std::optional<nn::Linear> generator;  ///< without bias; unless tied to the embedding

  /// Throws naming the field when the config is not valid.
  DecoderLM(const DecoderLMConfig& config, Rng& rng);

  /// Logits for the token after each of `target` [batch, target], when it follows the first
  /// lengths[b] tokens of `source` [batch, source]: [batch, target, vocab]. A source may have no
  /// columns: then this is a language model.
  Tensor operator()(const Tensor& source, const Tensor& lengths, const Tensor& target) const;
  /// Mean cross-entropy of target_out, in nats a token, padding not counted.
  Tensor loss(const Tensor& source, const Tensor& lengths, const Tensor& target_in,
              const Tensor& target_out, double label_smoothing = 0) const;
  /// What each head of each layer looks at: [batch, heads, time, time] for each layer, time being
  /// source and target, each source at the right of its room.
  std::vector<Tensor> attention(const Tensor& source, const Tensor& lengths,
                                const Tensor& target) const;

  /// Reads the sources, for decode_step(). Under NoGrad.
  DecoderLMState start(const Tensor& source, const Tensor& lengths) const;
  /// Reads one more token of each row, i64 [rows] -> logits of the next, [rows, vocab].
  Tensor decode_step(const Tensor& tokens, DecoderLMState& state) const;

  static void fields(auto& self, auto&& visit) {
    visit("embedding", self.embedding);
    visit("layers", self.layers);
    visit("norm", self.norm);
    visit("generator", self.generator);
  }
};

}  // namespace gradzoo::models
