// Tokens as vectors that know their place.
#include "models/token_embedding.h"

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/index.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/init.h"

namespace gradzoo::models {

namespace {

constexpr std::int64_t kMaxDistance = 16;  // in Shaw et al. 2018

}  // namespace

TokenEmbedding::TokenEmbedding(std::int64_t vocab, std::int64_t d_model, Positions kind,
                               std::int64_t max_length, Rng& rng, double given_scale, double p)
    : weight(nn::init::normal({vocab, d_model}, 0, 1 / given_scale, rng)),
      scale(given_scale),
      dropout(p) {
  if (kind == Positions::sinusoidal) positions = nn::SinusoidalPositions(max_length, d_model);
  if (kind == Positions::learned) positions = nn::LearnedPositions(max_length, d_model, rng);
}

Tensor TokenEmbedding::operator()(const Tensor& ids, std::int64_t first) const {
  const Scope scope("TokenEmbedding");
  check(ids.dim() == 2, "TokenEmbedding: ids must be [batch, time], got shape {}", ids.shape());
  Tensor x = embedding(weight, ids);
  if (scale != 1) x = x * scale;
  if (const auto* fixed = std::get_if<nn::SinusoidalPositions>(&positions)) x = (*fixed)(x, first);
  if (const auto* learned = std::get_if<nn::LearnedPositions>(&positions)) x = (*learned)(x, first);
  return gradzoo::dropout(x, dropout);
}

Tensor TokenEmbedding::at(const Tensor& ids, const Tensor& places) const {
  const Scope scope("TokenEmbedding");
  Tensor x = embedding(weight, ids);
  if (scale != 1) x = x * scale;
  Tensor table;
  if (const auto* fixed = std::get_if<nn::SinusoidalPositions>(&positions)) table = fixed->table;
  if (const auto* learned = std::get_if<nn::LearnedPositions>(&positions)) table = learned->weight;
  if (table.defined()) {
    const double last = places.numel() == 0 ? -1 : max(places).item();
    check(last < static_cast<double>(table.size(0)),
          "TokenEmbedding: a sequence of {} tokens is longer than the table for {}", last + 1,
          table.size(0));
    x = x + embedding(to(table, x.dtype()), places);
  }
  return gradzoo::dropout(x, dropout);
}

nn::AttentionPositions attention_positions(Positions positions, std::int64_t max_length,
                                           std::int64_t d, Rng& rng) {
  // A row of a batch that begins behind padding goes on beyond max_length places of the batch.
  if (positions == Positions::rotary) return nn::RotaryPositions(2 * max_length, d);
  if (positions == Positions::alibi) return nn::AlibiPositions{};
  if (positions == Positions::relative) return nn::RelativePositions(kMaxDistance, d, rng);
  return nn::NoPositions{};
}

}  // namespace gradzoo::models
