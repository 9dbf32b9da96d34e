// Asking any model for answers, by any search.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/common/zoo.h"
#include "models/hypothesis.h"

namespace gradzoo::examples {

enum class SearchKind { beam, exhaustive, sample };

struct SearchOptions {
  SearchKind kind = SearchKind::beam;
  std::int64_t beam = 1;  ///< 1: greedy search
  double length_penalty = 1;
  std::int64_t n_best = 1;
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  std::uint64_t seed = 1;
  std::int64_t min_length = 0;
  std::int64_t max_length = 100;  ///< the end symbol counted, as in models::LengthLimits
};

/// The longest answer, end symbol counted, that the model has places for after a source of that
/// many tokens; below 1: none.
std::int64_t room_for_answer(const ZooCheckpoint& checkpoint, std::int64_t source);

/// For each source, which must not be empty, its answers, the best first. No answer is longer than
/// there is room for; which sources are asked for together decides nothing but the time it takes.
/// `streams`: the random numbers that each source is given. The encoder fills in blanks, whatever
/// the options but max_length. Throws as the searches do, and when there is no room for an answer.
std::vector<std::vector<models::Hypothesis>> search(const ZooCheckpoint& checkpoint,
                                                    const std::vector<Ids>& sources,
                                                    const std::vector<std::uint64_t>& streams,
                                                    const SearchOptions& options);

/// Continues a text by as many tokens as max_length allows, also when these are more than the model
/// has places: then it goes on after the latter half of what it sees. Greedy search and sampling
/// only; of the answer, log_prob is the sum over what was seen at each time.
models::Hypothesis continue_text(const ZooCheckpoint& checkpoint, const Ids& prompt,
                                 const SearchOptions& options);

}  // namespace gradzoo::examples
