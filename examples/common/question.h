// A text as a question to a trained model: what it cannot read, and what it has no room for.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "examples/common/answer_lines.h"
#include "examples/common/zoo.h"

namespace gradzoo::examples {

/// The model at `checkpoint`, a file or the folder of a training run. Throws as load_checkpoint
/// does, and for an empty path.
ZooCheckpoint open_checkpoint(const std::string& checkpoint);

/// Tokens that the model does not know, to be told at the end.
class Unknown {
 public:
  void add(const Vocabulary& vocabulary, const std::string& text, const Ids& ids);
  /// A line on stderr that begins with the program's name, unless there were none.
  void report(const std::string& program) const;

 private:
  std::int64_t count_ = 0;
  std::set<std::string> seen_;
  bool more_ = false;  // than these
};

/// The text as ids, or why it cannot be answered: it is not UTF-8. Line: from 1.
Answered question(const ZooCheckpoint& checkpoint, std::int64_t line, const std::string& text,
                  Unknown& unknown);

/// When the model has no places for the question and an answer of `least` tokens, its end symbol
/// counted, takes the ids away and says so in the fault.
void check_room(const ZooCheckpoint& checkpoint, std::int64_t least, Answered& question);

}  // namespace gradzoo::examples
