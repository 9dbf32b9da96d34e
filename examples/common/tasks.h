// Small tasks a sequence-to-sequence model can learn completely.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "examples/common/batch.h"
#include "examples/common/vocabulary.h"

namespace gradzoo::examples {

/// What the target is, given the source: the same symbols, in the same, the opposite or rising
/// order; or, given two numbers as in "12+345", the digits of their sum.
enum class Task { copy, reverse, sort, add };
constexpr std::array<const char*, 4> choice_names(Task) {
  return {"copy", "reverse", "sort", "add"};
}

enum class Split { train, held_out };

struct StreamOptions {
  Task task = Task::reverse;
  Split split = Split::train;
  std::int64_t num_symbols = 20;  ///< of copy, reverse and sort
  std::int64_t min_length = 1;    ///< of a source; of add: digits of each number
  std::int64_t max_length = 20;
  std::uint64_t seed = 1;
};

/// The symbols of a task: a, b, … z, s26, s27, … in words, or the characters 0 to 9 and +.
Vocabulary task_vocabulary(Task task, std::int64_t num_symbols);

/// The right answer. Throws for a source that is none of the task: add needs two numbers.
Ids target_of(Task task, const Ids& source);

/// An endless stream of random examples, lengths and symbols uniform. Whether a source belongs to
/// training or is held out is a property of the source itself (a hash of it), so no held-out
/// sequence is ever trained on, whatever the seeds.
class TaskStream {
 public:
  /// Throws unless 1 <= min_length <= max_length and num_symbols >= 1.
  explicit TaskStream(const StreamOptions& options);
  /// Throws when there are too few different sequences to find one of this split.
  std::vector<Pair> next(std::int64_t count);

  /// The generator: with the options, the whole state.
  Rng& rng() { return rng_; }
  const Rng& rng() const { return rng_; }

 private:
  Ids random_source();

  StreamOptions options_;
  Rng rng_;
};

}  // namespace gradzoo::examples
