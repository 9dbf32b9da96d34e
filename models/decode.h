// What all searches share: limits, and the choice of tokens at one step. And the simplest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/tensor.h"
#include "models/decoder.h"
#include "models/hypothesis.h"
#include "models/special_ids.h"

namespace gradzoo::models {

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
  std::vector<std::int64_t> ids;  ///< [rows * width]; empty: in each row 0, 1, …

  /// Of element i of log_probs: its row and its token.
  std::size_t row(std::size_t i) const { return i / static_cast<std::size_t>(width); }
  std::int64_t token(std::size_t i) const {
    return ids.empty() ? static_cast<std::int64_t>(i) % width : ids[i];
  }
};
/// All tokens may be chosen but pad and begin symbol, and, unless may_end, the end symbol.
struct ChoiceOptions {
  bool may_end = true;
  std::int64_t best = 0;  ///< only so many, the likeliest first, ties by id; 0: all, by id
};
/// One step of the decoder. Throws when the logits are not numbers.
Choices next_tokens(Decoder& decoder, const Tensor& tokens, const ChoiceOptions& options);

/// A hypothesis that may still grow, in searches with several of them for a source.
struct Open {
  std::size_t source = 0;
  std::vector<std::int64_t> tokens{};
  double log_prob = 0;
  std::size_t row = 0;  ///< of the decoder, where it came from

  Open longer_by(const Continuation& next) const;
};
/// One for each row of a decoder that has not made a step.
std::vector<Open> first_open(const Decoder& decoder);
/// Makes these hypotheses, which have grown, the rows of the decoder: what the next step is given.
Tensor move_on(Decoder& decoder, const std::vector<Open>& open);

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
