// Attention scores: dot, scaled dot, general, reduced rank, additive.
#include "nn/scores.h"

#include <cmath>

#include "core/ops/additive.h"
#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "nn/init.h"

namespace gradzoo::nn {

namespace {

void check_shapes(const char* name, const Tensor& query, const Tensor& keys) {
  check((query.dim() == 2 || query.dim() == 3) && keys.dim() == 3,
        "{}: query must be [batch, queries, d_q] or [batch, d_q] and keys [batch, keys, d_k], got "
        "{} and {}",
        name, query.shape(), keys.shape());
  check(query.size(0) == keys.size(0), "{}: query and keys must have one batch, got {} and {}",
        name, query.shape(), keys.shape());
}

void check_widths(const char* name, const Tensor& query, const Tensor& keys, std::int64_t d_q,
                  std::int64_t d_k) {
  check_shapes(name, query, keys);
  check(query.size(-1) == d_q && keys.size(-1) == d_k,
        "{}: made for queries of width {} and keys of width {}, got {} and {}", name, d_q, d_k,
        query.shape(), keys.shape());
}

void check_one_width(const char* name, const Tensor& query, const Tensor& keys) {
  check_shapes(name, query, keys);
  check(query.size(-1) == keys.size(-1), "{}: query and keys must have one width, got {} and {}",
        name, query.shape(), keys.shape());
}

// Every query with every key of its batch row, both of one width.
Tensor products(const Tensor& query, const Tensor& keys) {
  if (query.dim() == 3) return matmul(query, transpose(keys));  // [b, q, k]
  return squeeze(matmul(unsqueeze(query, 1), transpose(keys)), 1);
}

}  // namespace

Tensor DotScore::operator()(const Tensor& query, const Tensor& keys) const {
  check_one_width("DotScore", query, keys);
  return products(query, keys);
}

Tensor ScaledDotScore::operator()(const Tensor& query, const Tensor& keys) const {
  check_one_width("ScaledDotScore", query, keys);
  return products(query * (1 / std::sqrt(static_cast<double>(query.size(-1)))), keys);
}

GeneralScore::GeneralScore(std::int64_t d_q, std::int64_t d_k, Rng& rng) {
  check(d_q >= 1 && d_k >= 1, "GeneralScore: the widths must be at least 1, got d_q {} and d_k {}",
        d_q, d_k);
  weight = init::xavier_uniform({d_q, d_k}, rng);
}

Tensor GeneralScore::operator()(const Tensor& query, const Tensor& keys) const {
  check_widths("GeneralScore", query, keys, weight.size(0), weight.size(1));
  return products(matmul(query, weight), keys);  // a decoder step has one query, but many keys
}

ReducedRankScore::ReducedRankScore(std::int64_t d_q, std::int64_t d_k, std::int64_t rank, Rng& rng)
    : query_proj(d_q, rank, rng, {.bias = false}), key_proj(d_k, rank, rng, {.bias = false}) {}

Tensor ReducedRankScore::operator()(const Tensor& query, const Tensor& keys) const {
  check_widths("ReducedRankScore", query, keys, query_proj.weight.size(1), key_proj.weight.size(1));
  return compare(query, key_proj(keys));
}

Tensor ReducedRankScore::compare(const Tensor& query, const Tensor& prepared) const {
  check_widths("ReducedRankScore", query, prepared, query_proj.weight.size(1),
               key_proj.weight.size(0));
  return products(query_proj(query), prepared);
}

AdditiveScore::AdditiveScore(std::int64_t d_q, std::int64_t d_k, std::int64_t width, Rng& rng)
    : query_proj(d_q, width, rng, {.bias = false}), key_proj(d_k, width, rng, {.bias = false}) {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  v = init::uniform({width}, -bound, bound, rng);
}

Tensor AdditiveScore::operator()(const Tensor& query, const Tensor& keys) const {
  check_widths("AdditiveScore", query, keys, query_proj.weight.size(1), key_proj.weight.size(1));
  return compare(query, key_proj(keys));
}

Tensor AdditiveScore::compare(const Tensor& query, const Tensor& prepared) const {
  check_widths("AdditiveScore", query, prepared, query_proj.weight.size(1), v.size(0));
  const Tensor from_query = query_proj(query);
  if (query.dim() == 3) return additive_scores(from_query, prepared, v);
  return squeeze(additive_scores(unsqueeze(from_query, 1), prepared, v), 1);
}

Tensor attention_scores(const AttentionScore& score, const Tensor& query, const Tensor& keys) {
  return std::visit([&](const auto& held) { return held(query, keys); }, score);
}

Tensor prepare_keys(const AttentionScore& score, const Tensor& keys) {
  return std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.key_proj; }) return held.key_proj(keys);
        return keys;
      },
      score);
}

Tensor prepared_scores(const AttentionScore& score, const Tensor& query, const Tensor& prepared) {
  return std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.key_proj; }) return held.compare(query, prepared);
        return held(query, prepared);
      },
      score);
}

std::optional<AttentionScore> make_score(ScoreKind kind, std::int64_t width, std::int64_t rank,
                                         Rng& rng) {
  switch (kind) {
    case ScoreKind::none:
      return std::nullopt;
    case ScoreKind::dot:
      return DotScore();
    case ScoreKind::scaled_dot:
      return ScaledDotScore();
    case ScoreKind::general:
      return GeneralScore(width, width, rng);
    case ScoreKind::reduced_rank:
      return ReducedRankScore(width, width, rank, rng);
    case ScoreKind::additive:
      return AdditiveScore(width, width, width, rng);
  }
  fail("make_score: no kind of score has the number {}", static_cast<int>(kind));
}

}  // namespace gradzoo::nn
