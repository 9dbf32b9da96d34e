// Recurrent sequence-to-sequence models: an encoder and a decoder with nothing but one vector
// between them (Sutskever et al. 2014, Cho et al. 2014), or with attention (Luong et al. 2015).
#pragma once

#include <cstdint>
#include <optional>

#include "core/random.h"
#include "nn/any_recurrent.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/scores.h"

namespace gradzoo::models {

/// The model of Luong et al. 2015 with global attention and input feeding.
struct RNNSeq2SeqConfig {
  std::int64_t source_vocab = 50000;
  std::int64_t target_vocab = 50000;
  nn::CellKind cell = nn::CellKind::lstm;
  std::int64_t embedding_dim = 1000;
  std::int64_t hidden_size = 1000;
  std::int64_t num_layers = 4;
  bool bidirectional = false;
  nn::ScoreKind attention = nn::ScoreKind::dot;
  std::int64_t attention_rank = 64;
  bool input_feeding = true;
  double dropout = 0.2;     ///< of embeddings, between layers, and of what the generator reads
  bool source_end = false;  ///< as Sutskever et al. 2014 have it

  static void fields(auto& self, auto&& visit) {
    visit("source_vocab", self.source_vocab, "ids of the source, special ones included");
    visit("target_vocab", self.target_vocab, "ids of the target, special ones included");
    visit("cell", self.cell, "of encoder and decoder");
    visit("embedding_dim", self.embedding_dim, "width of the embeddings");
    visit("hidden_size", self.hidden_size, "width of the states; two directions have half each");
    visit("num_layers", self.num_layers, "layers of the encoder, and of the decoder");
    visit("bidirectional", self.bidirectional, "the encoder reads in both directions");
    visit("attention", self.attention, "how well a place of the source answers the decoder");
    visit("attention_rank", self.attention_rank, "rank of the reduced_rank attention");
    visit("input_feeding", self.input_feeding, "each step reads what the last one attended to");
    visit("dropout", self.dropout, "probability of dropping, from 0 to 1");
    visit("source_end", self.source_end, "the encoder reads an end symbol after the source");
  }
};

/// What a decoder remembers of each row.
struct RNNSeq2SeqState {
  LstmState hidden;  ///< [layers, rows, hidden]; c only where the cell has one
  Tensor memory;     ///< with attention: the encoder's outputs m, [rows, source, hidden]
  Tensor keys;       ///< with attention: what the score makes of them, [rows, source, width]
  Tensor mask;       ///< with attention: boolean [rows, 1, source], true at real tokens
  Tensor fed;        ///< with input feeding: h~ of the last step, [rows, 1, hidden]

  /// Row i becomes what row rows[i] was (i64 [n]).
  void select(const Tensor& rows);
};

/// Both without the axis target where one step was made.
struct RNNSeq2SeqOutput {
  Tensor logits;   ///< [batch, target, target_vocab]
  Tensor weights;  ///< [batch, target, source], with source_end source + 1; only with attention
};

/// The decoder's layers begin with the last states of the encoder's layers; two directions are each
/// half as wide, and theirs stand side by side. Decoder state h and memory m (the encoder's
/// outputs) give, as in Luong et al. 2015,
///
///     a_s = softmax over s of score(h, m_s),  c = sum_s a_s m_s
///     h~ = tanh(W_c [c; h]),  logits = generator(h~)
///
/// and without attention logits = generator(h). With input feeding the decoder reads the embedding
/// and the last step's h~ (first 0), in a loop; without, all steps are run, and attend, at once.
struct RNNSeq2Seq {
  static constexpr const char* kName = "rnn_seq2seq";
  RNNSeq2SeqConfig config;
  nn::Embedding source_embedding, target_embedding;
  nn::AnyRecurrent encoder, decoder;
  std::optional<nn::AttentionScore> score;
  std::optional<nn::Linear> attention_proj;  ///< W_c, [hidden, 2 * hidden], without bias
  nn::Linear generator;

  /// Throws naming the field when the config is not valid.
  RNNSeq2Seq(const RNNSeq2SeqConfig& config, Rng& rng);

  /// Teacher forcing: ids source [batch, source] with lengths i64 [batch], and target_in [batch,
  /// target], which starts with the begin symbol -> logits [batch, target, target_vocab].
  Tensor operator()(const Tensor& source, const Tensor& lengths, const Tensor& target_in) const {
    return with_weights(source, lengths, target_in).logits;
  }
  RNNSeq2SeqOutput with_weights(const Tensor& source, const Tensor& lengths,
                                const Tensor& target_in) const;

  /// nn::sequence_cross_entropy of the logits.
  Tensor loss(const Tensor& source, const Tensor& lengths, const Tensor& target_in,
              const Tensor& target_out, double label_smoothing = 0) const;

  /// Reads the source: what the decoder begins with.
  RNNSeq2SeqState start(const Tensor& source, const Tensor& lengths) const;
  /// After one more token of each row: i64 [rows] -> logits [rows, target_vocab] of the next.
  Tensor decode_step(const Tensor& tokens, RNNSeq2SeqState& state) const {
    return decode_step_with_weights(tokens, state).logits;
  }
  RNNSeq2SeqOutput decode_step_with_weights(const Tensor& tokens, RNNSeq2SeqState& state) const;

  static void fields(auto& self, auto&& visit) {
    visit("source_embedding", self.source_embedding);
    visit("target_embedding", self.target_embedding);
    visit("encoder", self.encoder);
    visit("decoder", self.decoder);
    visit("score", self.score);
    visit("attention_proj", self.attention_proj);
    visit("generator", self.generator);
  }

 private:
  RNNSeq2SeqOutput decode(const Tensor& target, RNNSeq2SeqState& state) const;
};

}  // namespace gradzoo::models
