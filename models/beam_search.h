// Beam search: several hypotheses of a source grow side by side, the best of all their
// continuations stay.
#pragma once

#include <cstdint>
#include <vector>

#include "models/decode.h"

namespace gradzoo::models {

struct BeamOptions {
  std::int64_t beam = 4;        ///< hypotheses kept at each step
  double length_penalty = 1;    ///< alpha >= 0: hypotheses are ranked by log_prob / length^alpha
  std::int64_t min_length = 0;  ///< as in LengthLimits
  std::int64_t max_length = 100;
  std::int64_t n_best = 1;  ///< answers for each source, at most `beam`
};

/// At each step the `beam` likeliest continuations of a source's open hypotheses stay (ties: the
/// lower id, then the better parent). Those with an end symbol are answers and leave the batch,
/// so the others may be fewer than `beam` until the next step. A source is done when it has n_best
/// answers that no open hypothesis can overtake, whatever follows, or when max_length is reached:
/// then what is open is an answer too, not finished.
///
/// For each row of the decoder its n_best answers, all different, by falling score (ties: the
/// one found earlier); fewer when there are no more. Beam 1 is greedy search. Nothing depends on
/// n_best but how many are returned. Throws for options out of range, and when a source has no
/// possible answer.
std::vector<std::vector<Hypothesis>> beam_search(Decoder decoder, const BeamOptions& options = {});

}  // namespace gradzoo::models
