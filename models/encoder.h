// The encoder-only model: BERT (Devlin et al. 2019), pre-trained to fill in masked tokens and then
// taught to classify.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.h"
#include "models/token_embedding.h"
#include "nn/embedding.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/transformer_layer.h"

namespace gradzoo::models {

/// BERT's base model.
struct EncoderConfig {
  std::int64_t vocab = 30522;
  std::int64_t num_segments = 2;
  std::int64_t num_classes = 2;
  std::int64_t d_model = 768;
  std::int64_t num_heads = 12;
  std::int64_t num_layers = 12;
  std::int64_t d_ff = 3072;
  double dropout = 0.1;
  bool norm_first = false;
  Positions positions = Positions::learned;
  std::int64_t max_length = 512;

  static void fields(auto& self, auto&& visit) {
    visit("vocab", self.vocab, "ids, special ones included");
    visit("num_segments", self.num_segments,
          "kinds of text in one sequence, such as question, text");
    visit("num_classes", self.num_classes, "what a sequence can be classified as");
    visit("d_model", self.d_model, "width of embeddings and layers");
    visit("num_heads", self.num_heads, "attention heads; must divide d_model");
    visit("num_layers", self.num_layers, "blocks of attention and feed-forward");
    visit("d_ff", self.d_ff, "inner width of the feed-forward parts");
    visit("dropout", self.dropout, "probability of dropping, from 0 to 1");
    visit("norm_first", self.norm_first, "layer norm before each part instead of after it");
    visit("positions", self.positions, "how tokens know their place");
    visit("max_length", self.max_length, "tokens in the longest sequence");
  }
};

struct Encoder {
  static constexpr const char* kName = "encoder";
  /// Targets with this id count for nothing in loss().
  static constexpr std::int64_t kIgnored = -100;

  EncoderConfig config;
  TokenEmbedding embedding;
  nn::Embedding segment_embedding;
  nn::LayerNorm embedding_norm;
  std::vector<nn::TransformerEncoderLayer> layers;
  std::optional<nn::LayerNorm> final_norm;  ///< with pre-norm only
  nn::Linear token_transform;               ///< before a token is predicted
  nn::LayerNorm token_norm;
  Tensor token_bias;  ///< [vocab]; the matrix is that of the embedding
  nn::Linear pooler;  ///< of the first token, before classification
  nn::Linear classifier;

  /// Throws naming the field when the config is not valid.
  Encoder(const EncoderConfig& config, Rng& rng);

  /// ids [batch, time], lengths i64 [batch] (the padding behind is never attended to), segments i64
  /// [batch, time] (undefined: all 0) -> [batch, time, d_model].
  Tensor operator()(const Tensor& ids, const Tensor& lengths, const Tensor& segments = {}) const;
  /// The same, and what each head of each layer looks at: [batch, heads, time, time] for each
  /// layer.
  std::vector<Tensor> attention(const Tensor& ids, const Tensor& lengths,
                                const Tensor& segments = {}) const;

  /// The masked-token head: states [batch, time, d_model] -> logits [batch, time, vocab].
  Tensor token_logits(const Tensor& states) const;
  /// The classification head, of the first token: states -> logits [batch, num_classes].
  Tensor class_logits(const Tensor& states) const;

  /// Mean cross-entropy of the tokens that are not kIgnored: targets i64 [batch, time].
  Tensor loss(const Tensor& ids, const Tensor& lengths, const Tensor& targets,
              double label_smoothing = 0) const;
  /// Mean cross-entropy of the class: classes i64 [batch].
  Tensor classification_loss(const Tensor& ids, const Tensor& lengths, const Tensor& classes) const;

  static void fields(auto& self, auto&& visit) {
    visit("embedding", self.embedding);
    visit("segment_embedding", self.segment_embedding);
    visit("embedding_norm", self.embedding_norm);
    visit("layers", self.layers);
    visit("final_norm", self.final_norm);
    visit("token_transform", self.token_transform);
    visit("token_norm", self.token_norm);
    visit("token_bias", self.token_bias);
    visit("pooler", self.pooler);
    visit("classifier", self.classifier);
  }
};

/// Ids with some of them hidden, and what was there: what loss() learns from.
struct MaskedTokens {
  Tensor ids;
  Tensor targets;  ///< kIgnored where nothing was hidden
};

/// BERT's corruption of ids [batch, time]: of the tokens from `first_id` on, each is chosen with
/// probability `p`; of those 80 % become `mask_id`, 10 % a random id from first_id to vocab - 1,
/// and 10 % stay.
MaskedTokens mask_tokens(const Tensor& ids, std::int64_t mask_id, std::int64_t first_id,
                         std::int64_t vocab, double p, Rng& rng);

}  // namespace gradzoo::models
