// Attention scores: how well each key answers a query. One interface for all of them, for the
// steps of an RNN decoder and for whole sequences:
//
//     score(query [batch, queries, d_q], keys [batch, keys, d_k]) -> [batch, queries, keys]
//     score(query [batch, d_q],          keys [batch, keys, d_k]) -> [batch, keys]
//
// Other shapes, and widths other than those a score was made for, are an Error that names them.
// attend() in nn/attend.h turns scores into weights and a context.
//
// What a score does with the keys alone can be done once for all steps of a decoder:
// attention_scores(score, query, keys) is prepared_scores(score, query, prepare_keys(score, keys)).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/linear.h"

namespace gradzoo::nn {

/// s^T h (Luong et al. 2015, "dot"): query and keys have one width.
struct DotScore {
  Tensor operator()(const Tensor& query, const Tensor& keys) const;

  static void fields(auto&, auto&&) {}
};

/// s^T h / sqrt(d) (Vaswani et al. 2017): query and keys have one width d.
struct ScaledDotScore {
  Tensor operator()(const Tensor& query, const Tensor& keys) const;

  static void fields(auto&, auto&&) {}
};

/// s^T W h (Luong et al. 2015, "general"; also called multiplicative or bilinear).
struct GeneralScore {
  Tensor weight;  ///< W, [d_q, d_k]

  GeneralScore() = default;
  /// Throws unless the widths are at least 1.
  GeneralScore(std::int64_t d_q, std::int64_t d_k, Rng& rng);

  Tensor operator()(const Tensor& query, const Tensor& keys) const;

  static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
};

/// (U s)^T (V h): GeneralScore whose W = U^T V has rank k, with k (d_q + d_k) weights instead of
/// d_q d_k.
struct ReducedRankScore {
  Linear query_proj;  ///< U, [rank, d_q], without bias
  Linear key_proj;    ///< V, [rank, d_k], without bias

  ReducedRankScore() = default;
  /// Throws unless the widths and the rank are at least 1.
  ReducedRankScore(std::int64_t d_q, std::int64_t d_k, std::int64_t rank, Rng& rng);

  Tensor operator()(const Tensor& query, const Tensor& keys) const;
  /// The same with key_proj(keys) made before.
  Tensor compare(const Tensor& query, const Tensor& prepared) const;

  static void fields(auto& self, auto&& visit) {
    visit("query_proj", self.query_proj);
    visit("key_proj", self.key_proj);
  }
};

/// v^T tanh(W1 h + W2 s) (Bahdanau et al. 2015).
struct AdditiveScore {
  Linear query_proj;  ///< W2, [width, d_q], without bias
  Linear key_proj;    ///< W1, [width, d_k], without bias
  Tensor v;           ///< [width]

  AdditiveScore() = default;
  /// Throws unless all widths are at least 1.
  AdditiveScore(std::int64_t d_q, std::int64_t d_k, std::int64_t width, Rng& rng);

  Tensor operator()(const Tensor& query, const Tensor& keys) const;
  /// The same with key_proj(keys) made before.
  Tensor compare(const Tensor& query, const Tensor& prepared) const;

  static void fields(auto& self, auto&& visit) {
    visit("query_proj", self.query_proj);
    visit("key_proj", self.key_proj);
    visit("v", self.v);
  }
};

/// Any of them, for models that leave the choice open.
using AttentionScore =
    std::variant<DotScore, ScaledDotScore, GeneralScore, ReducedRankScore, AdditiveScore>;

/// The scores of whichever it is.
Tensor attention_scores(const AttentionScore& score, const Tensor& query, const Tensor& keys);

/// Its part that needs no query: keys [batch, keys, d_k] -> [batch, keys, width].
Tensor prepare_keys(const AttentionScore& score, const Tensor& keys);
/// The rest, for a query of either form.
Tensor prepared_scores(const AttentionScore& score, const Tensor& query, const Tensor& prepared);

/// The choice as a value, for configs.
enum class ScoreKind { none, dot, scaled_dot, general, reduced_rank, additive };
constexpr std::array<const char*, 6> choice_names(ScoreKind) {
  return {"none", "dot", "scaled_dot", "general", "reduced_rank", "additive"};
}

/// A score of that kind, for queries and keys of one width; an additive one is as wide inside.
/// `rank` is that of reduced_rank. Nothing for none.
std::optional<AttentionScore> make_score(ScoreKind kind, std::int64_t width, std::int64_t rank,
                                         Rng& rng);

}  // namespace gradzoo::nn
