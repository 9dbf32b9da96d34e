// From text to ids, with everything that may be wrong.
#include "examples/common/question.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "examples/common/run_folder.h"
#include "examples/common/search.h"
#include "models/special_ids.h"

namespace gradzoo::examples {

ZooCheckpoint open_checkpoint(const std::string& checkpoint) {
  check(!checkpoint.empty(), "--checkpoint: the path is empty");
  const bool folder = std::filesystem::is_directory(checkpoint);
  return load_checkpoint(folder ? RunFolder::model(checkpoint) : checkpoint);
}

void Unknown::add(const Vocabulary& vocabulary, const std::string& text, const Ids& ids) {
  if (std::find(ids.begin(), ids.end(), models::kUnk) == ids.end()) return;
  const std::vector<std::string> tokens = tokenize(vocabulary.level(), text);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != models::kUnk) continue;
    ++count_;
    if (seen_.size() < 5) {
      seen_.insert(tokens[i]);
    } else {
      more_ = more_ || !seen_.contains(tokens[i]);
    }
  }
}

void Unknown::report(const std::string& program) const {
  if (count_ == 0) return;
  std::string some;
  for (const std::string& token : seen_) some += (some.empty() ? "'" : ", '") + token + "'";
  fmt::print(stderr, "{}: {} not in the model's vocabulary, read as <unk>: {}\n", program,
             count_ == 1 ? "1 token is" : fmt::format("{} tokens are", count_),
             some + (more_ ? ", ..." : ""));
}

Answered question(const ZooCheckpoint& checkpoint, std::int64_t line, const std::string& text,
                  Unknown& unknown) {
  Answered result{line, text, {}};
  const std::size_t wrong = invalid_utf8(text);
  if (wrong != std::string::npos) {
    result.fault = fmt::format("byte {} is not UTF-8", wrong + 1);
    return result;
  }
  result.ids = checkpoint.source.encode(text);
  unknown.add(checkpoint.source, text, result.ids);
  return result;
}

void check_room(const ZooCheckpoint& checkpoint, std::int64_t least, Answered& question) {
  const std::int64_t size = std::ssize(question.ids);
  if (room_for_answer(checkpoint, size) >= least) return;
  question.ids.clear();
  question.fault = fmt::format("{} tokens and an answer are more than the model's {} places", size,
                               places(config_of(checkpoint.model)));
}

}  // namespace gradzoo::examples
