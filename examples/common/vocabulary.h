// Vocabularies: from text to ids and back, by words or by characters.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "examples/common/batch.h"

namespace gradzoo::examples {

/// What a token is: a word between blanks, or a character (a code point of UTF-8).
enum class Level { word, character };
constexpr std::array<const char*, 2> choice_names(Level) { return {"word", "character"}; }

/// The place of the first byte that is not valid UTF-8 (NUL is not text either), counted from 0;
/// npos: all of it is.
std::size_t invalid_utf8(const std::string& text);

/// The tokens of a line. Words: what is between blanks and tabs. Characters: each code point,
/// blanks too. The text must be valid UTF-8.
std::vector<std::string> tokenize(Level level, const std::string& line);

/// Tokens and their ids: 0 to 3 are the special ones (models::kPad, …), the others follow.
class Vocabulary {
 public:
  Vocabulary() = default;
  /// Throws for a token that is empty or there twice, or no single token of this level.
  Vocabulary(Level level, const std::vector<std::string>& tokens);
  /// The tokens of `lines` that occur at least `min_count` times, the most frequent first and those
  /// of like frequency in order of their bytes.
  static Vocabulary of_lines(Level level, const std::vector<std::string>& lines,
                             std::int64_t min_count = 1);

  Level level() const { return level_; }
  /// Special ids included.
  std::int64_t size() const;

  /// Unknown tokens become models::kUnk; nothing in a text becomes another special id.
  Ids encode(const std::string& line) const;
  /// Words with blanks between them, or the characters; special ids as <pad>, <bos>, <eos>, <unk>.
  /// Throws for an id that is none.
  std::string decode(const Ids& ids) const;
  std::string token(std::int64_t id) const;

  /// As JSON text, for a file or the metadata of a checkpoint, and back. Throws, beginning with
  /// `origin`, for text that is not a vocabulary.
  std::string to_json() const;
  static Vocabulary from_json(const std::string& text, const std::string& origin);

 private:
  Level level_ = Level::word;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

}  // namespace gradzoo::examples
