// Tokens as vectors that know their place, for the Transformers of the zoo. A position scheme
// either adds something to embeddings or works inside attention.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/attention_positions.h"
#include "nn/learned_positions.h"
#include "nn/position.h"

namespace gradzoo::models {

enum class Positions {
  none,        ///< no order but that of a causal mask
  sinusoidal,  ///< added (Vaswani et al. 2017)
  learned,     ///< added (Gehring et al. 2017)
  rotary,      ///< queries and keys are turned (Su et al. 2021)
  alibi,       ///< scores fall with the distance (Press et al. 2022)
  relative     ///< a learned vector for each distance up to 16 (Shaw et al. 2018)
};
constexpr std::array<const char*, 6> choice_names(Positions) {
  return {"none", "sinusoidal", "learned", "rotary", "alibi", "relative"};
}

/// Ids i64 [batch, time] -> [batch, time, d_model]: scale * weight[id], plus what the scheme adds
/// for the token's place, dropped out.
struct TokenEmbedding {
  Tensor weight;  ///< [vocab, d_model]
  std::variant<nn::NoPositions, nn::SinusoidalPositions, nn::LearnedPositions> positions;
  double scale = 1;
  double dropout = 0;

  TokenEmbedding() = default;
  /// Weights normal with standard deviation 1 / scale.
  TokenEmbedding(std::int64_t vocab, std::int64_t d_model, Positions positions,
                 std::int64_t max_length, Rng& rng, double scale = 1, double dropout = 0);

  /// The first token stands at place `first`. Throws when the sequence is longer than max_length,
  /// naming both lengths.
  Tensor operator()(const Tensor& ids, std::int64_t first = 0) const;
  /// Each token at a place of its own: i64 [batch, time].
  Tensor at(const Tensor& ids, const Tensor& places) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("positions", self.positions);
  }
};

/// What a scheme does inside the self-attention of one layer whose heads have width d. Throws for
/// rotary positions when d is odd.
nn::AttentionPositions attention_positions(Positions positions, std::int64_t max_length,
                                           std::int64_t d, Rng& rng);

}  // namespace gradzoo::models
