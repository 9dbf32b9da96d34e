// Exhaustive search: all answers there are, for small vocabularies. What other searches are
// measured by.
#pragma once

#include <cstdint>
#include <vector>

#include "models/decode.h"

namespace gradzoo::models {

struct ExhaustiveOptions {
  double length_penalty = 1;    ///< as in BeamOptions
  std::int64_t min_length = 0;  ///< as in LengthLimits
  std::int64_t max_length = 5;
  std::int64_t n_best = 1;
};

/// As many answers as one search may look at, of all its sources together.
inline constexpr std::int64_t kMostAnswers = 1'000'000;

/// For each row of the decoder the n_best of all sequences that end within max_length, and of
/// those of max_length that do not (not `finished`): what beam_search finds with a beam that is
/// wide enough, in the same order. With v ids beside pad, begin and end symbol these are at most
/// v^0 + … + v^max_length; throws when for all rows together these are more than kMostAnswers, and
/// for options out of range.
std::vector<std::vector<Hypothesis>> exhaustive(Decoder decoder,
                                                const ExhaustiveOptions& options = {});

}  // namespace gradzoo::models
