// Answers drawn at random, as likely as the model says, or nearly so.
#pragma once

#include <cstdint>
#include <vector>

#include "models/decode.h"

namespace gradzoo::models {

struct SampleOptions {
  double temperature = 1;       ///< log-probabilities are divided by it; below 1: more careful
  std::int64_t top_k = 0;       ///< then only the k likeliest tokens count (0: all),
  double top_p = 1;             ///< then only the fewest that have this probability together
  std::int64_t min_length = 0;  ///< as in LengthLimits
  std::int64_t max_length = 100;
  std::uint64_t seed = 1;
  /// The stream of random numbers of each row; empty: 0, 1, … A row's answer is a function of the
  /// seed, its stream and its source, whatever else is in the batch.
  std::vector<std::uint64_t> streams{};
};

/// One answer for each row of the decoder, drawn token by token. Pad and begin symbol have no part
/// in the draw; ties at the edge of top_k and top_p go to the lower id. log_prob is what the model
/// itself gives the answer, whatever it was drawn from, and the score is the same. Throws for
/// options out of range.
std::vector<Hypothesis> sample(Decoder decoder, const SampleOptions& options = {});

}  // namespace gradzoo::models
