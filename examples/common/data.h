// What a model is trained on: a task, parallel text, or one long text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/common/stream.h"
#include "examples/common/text.h"
#include "examples/common/zoo.h"

namespace gradzoo::examples {

/// Either a task, or files: pairs in two columns (`train`) or in two files (`train`,
/// `train_target`) with the same for validation, or one `text`.
struct DataOptions {
  Task task = Task::reverse;
  std::int64_t symbols = 20;
  std::int64_t shortest = 1, longest = 20;  ///< symbols, or digits, of a source
  std::optional<std::string> train, train_target, valid, valid_target;
  std::optional<std::string> text;
  Level level = Level::word;   ///< tokens of pairs; those of a text are characters
  std::int64_t min_count = 1;  ///< rarer tokens of the training pairs are unknown
  std::int64_t context = 64;   ///< tokens of a text that are read at once
  std::int64_t batch_size = 64;
  std::int64_t max_tokens = 0;  ///< ids in a batch, padding included; 0: batch_size decides
  std::uint64_t seed = 1;
};

struct Data {
  std::unique_ptr<BatchStream> training;
  Vocabulary source, target;
  std::vector<Pair> held_out;  ///< pairs that are never trained on
  Ids held_out_text;           ///< the last tenth of a text
  std::vector<BadLine> bad;    ///< lines of the files that are not used

  bool is_text() const { return !held_out_text.empty(); }
};

/// The shortest source that a task is measured with.
std::int64_t held_out_shortest(const DataOptions& options);

/// Reads or makes the data for a model with that config, and sets the config's vocabulary sizes.
/// Pairs that do not fit the model are among the bad lines. Held out: of a task `held_out` pairs
/// from held_out_shortest on, or all pairs of the validation file. Throws naming file and cause.
Data make_data(const DataOptions& options, ZooConfig& config, std::int64_t held_out);

}  // namespace gradzoo::examples
