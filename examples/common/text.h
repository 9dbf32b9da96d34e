// Text files: lines, and parallel text, with everything that is wrong with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/common/vocabulary.h"

namespace gradzoo::examples {

/// A line that cannot be used, and why: "FILE:3: the target is empty".
struct BadLine {
  std::string file;
  std::int64_t line = 0;  ///< from 1
  std::string reason;
};

struct TextLine {
  std::int64_t number = 0;  ///< from 1
  std::string text;         ///< without its end
};

/// The lines of a file and what is wrong with some of them.
struct Lines {
  std::vector<TextLine> good;
  std::vector<BadLine> bad;  ///< not UTF-8; the byte is named, counted from 1
  std::int64_t count = 0;    ///< all of them, good or bad
};

/// Reads a whole file. Lines end with \n or \r\n; a byte order mark at the beginning is not text.
/// Throws for a file that cannot be read or has no lines.
Lines read_lines(const std::string& path);

/// A source and a target, from one line of the file.
struct TextPair {
  std::int64_t line = 0;
  std::string source, target;
};

struct ParallelText {
  std::vector<TextPair> pairs;
  std::vector<BadLine> bad;
};

struct ParallelOptions {
  Level level = Level::word;
  std::int64_t max_length = 1000;  ///< tokens on each side
};

/// Two columns separated by a tab. Lines with another number of columns, an empty side (no token),
/// more than max_length tokens, or that are not UTF-8 are listed in `bad`. Throws when nothing good
/// is left, naming the file and the first bad line.
ParallelText read_tsv(const std::string& path, const ParallelOptions& options = {});

/// Line i of one file belongs to line i of the other. Bad lines as above. Throws when the numbers
/// of lines differ, naming both.
ParallelText read_aligned(const std::string& sources, const std::string& targets,
                          const ParallelOptions& options = {});

/// "FILE:3: the target is empty".
std::string to_text(const BadLine& line);

}  // namespace gradzoo::examples
