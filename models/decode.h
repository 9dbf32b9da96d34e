// What all searches share: hypotheses, and the choice of tokens at one step. And the simplest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/tensor.h"
#include "models/decoder.h"
#include "models/special_ids.h"

namespace gradzoo::models {

/// An answer, whole or cut. Its length counts the end symbol, and not the begin symbol.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  ///< without begin and end symbol
  double log_prob = 0;               ///< of all tokens, and of the end symbol when finished
  double score = 0;                  ///< what it is ranked by: log_prob / length^alpha
  bool finished = false;             ///< false: cut at the longest length, before an end symbol

  std::int64_t length() const {
    return static_cast<std::int64_t>(tokens.size()) + (finished ? 1 : 0);
  }
};

/// log_prob / length^alpha (Wu et al. 2016, with their 5 left out): 0 is the plain log-probability,
/// 1 the mean of a token. Longer is better the larger alpha.
double length_normalised(double log_prob, std::int64_t length, double alpha);

/// How long an answer may be, the end symbol counted.
struct LengthLimits {
  std::int64_t min_length = 0;    ///< no end symbol before that: 2 forbids the empty answer
  std::int64_t max_length = 100;  ///< what has not ended by then is cut, and is not `finished`
};
/// An Error that begins with `op` unless max_length >= 1 and 0 <= min_length <= max_length.
void check_limits(const char* op, const LengthLimits& limits);

/// For each row its next tokens, `width` of them: their log-probabilities under the whole
/// vocabulary, and their ids. -inf: not to be chosen.
struct Choices {
  std::int64_t width = 0;
  std::vector<double> log_probs;  ///< [rows * width]
  std::vector<std::int64_t> ids;  ///< [rows * width]
};
/// All tokens may be chosen but pad and begin symbol, and, unless may_end, the end symbol.
struct ChoiceOptions {
  bool may_end = true;
  std::int64_t best = 0;  ///< only so many, the likeliest first, ties by id; 0: all, by id
};
/// One step of the decoder. Throws when the logits are not numbers.
Choices next_tokens(Decoder& decoder, const Tensor& tokens, const ChoiceOptions& options);

/// Given the number of a hypothesis and what may follow it, which of these does (its place there).
using Pick = std::function<std::size_t(std::size_t hypothesis, std::span<const double> log_probs)>;
/// Lets one hypothesis grow for each row of the decoder, by a pick among the `best` choices (0:
/// all) at each step; one that has ended leaves the batch. Errors begin with `op`.
std::vector<Hypothesis> one_for_each_row(const char* op, Decoder decoder,
                                         const LengthLimits& limits, std::int64_t best,
                                         const Pick& pick);

/// The most likely token at each step, whatever comes of it later; ties give the lower id. One
/// hypothesis for each row of the decoder, its score the log-probability.
std::vector<Hypothesis> greedy(Decoder decoder, const LengthLimits& limits = {});

}  // namespace gradzoo::models
