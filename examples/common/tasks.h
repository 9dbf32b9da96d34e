// Small tasks a sequence-to-sequence model can learn completely, and batches of their examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::examples {

using Ids = std::vector<std::int64_t>;

/// What the target is, given the source.
enum class Task { copy, reverse };

/// "copy" or "reverse". Throws naming the known ones.
Task task_named(const std::string& name);
Ids target_of(Task task, const Ids& source);

/// The two sides of one example, without special ids.
struct Pair {
  Ids source;
  Ids target;
};

/// Pairs, padded and ready for teacher forcing.
struct Batch {
  Tensor source;      ///< i64 [batch, source], padded at the end
  Tensor lengths;     ///< i64 [batch]: real tokens of each source
  Tensor target_in;   ///< i64 [batch, target + 1]: begin symbol, target, padding
  Tensor target_out;  ///< i64 [batch, target + 1]: target, end symbol, padding
};
Batch make_batch(const std::vector<Pair>& pairs);

enum class Split { train, held_out };

struct StreamOptions {
  Task task = Task::reverse;
  Split split = Split::train;
  std::int64_t num_symbols = 20;
  std::int64_t min_length = 1;
  std::int64_t max_length = 20;
  std::uint64_t seed = 1;
};

/// An endless stream of random examples, lengths and symbols uniform. Whether a source belongs to
/// training or is held out is a property of the source itself (a hash of it), so no held-out
/// sequence is ever trained on, whatever the seeds.
class TaskStream {
 public:
  /// Throws unless 1 <= min_length <= max_length and num_symbols >= 1.
  explicit TaskStream(const StreamOptions& options);
  std::vector<Pair> next(std::int64_t count);

  /// Ids of the task's vocabulary: the special ones and the symbols.
  std::int64_t vocab() const;

 private:
  StreamOptions options_;
  Rng rng_;
};

/// Symbols as letters a, b, … (numbers from the 27th on), separated by blanks.
std::string to_text(const Ids& ids);

}  // namespace gradzoo::examples
