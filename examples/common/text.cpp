// Reading text files line by line.
#include "examples/common/text.h"

#include <algorithm>

#include "core/file.h"

namespace gradzoo::examples {
namespace {

std::string read_all(const std::string& path) {
  const InputFile file(path);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

// Why a side cannot be used; empty when it can.
std::string fault(const char* side, const std::string& text, const ParallelOptions& options) {
  const auto tokens = static_cast<std::int64_t>(tokenize(options.level, text).size());
  const bool blank = text.find_first_not_of(" \t") == std::string::npos;
  if (blank) return fmt::format("the {} is empty", side);
  if (tokens <= options.max_length) return "";
  return fmt::format("the {} has {} tokens, more than {}", side, tokens, options.max_length);
}

// Where the two sides of a pair come from: one file or two.
struct Origin {
  const std::string& sources;
  const std::string& targets;
};

// Takes the pair, or says why not.
void add_pair(ParallelText& text, const Origin& origin, const TextPair& pair,
              const ParallelOptions& options) {
  const std::string source = fault("source", pair.source, options);
  const std::string target = fault("target", pair.target, options);
  if (!source.empty()) text.bad.push_back({origin.sources, pair.line, source});
  if (!target.empty()) text.bad.push_back({origin.targets, pair.line, target});
  if (source.empty() && target.empty()) text.pairs.push_back(pair);
}

ParallelText checked(ParallelText text, const std::string& path) {
  std::stable_sort(text.bad.begin(), text.bad.end(),
                   [](const BadLine& a, const BadLine& b) { return a.line < b.line; });
  if (text.pairs.empty()) {
    fail("{}: no line can be used, the first because: {}", path, to_text(text.bad.front()));
  }
  return text;
}

}  // namespace

std::string to_text(const BadLine& line) {
  return fmt::format("{}:{}: {}", line.file, line.line, line.reason);
}

Lines read_lines(const std::string& path) {
  const std::string text = read_all(path);
  const std::string mark = "\xef\xbb\xbf";
  Lines lines;
  for (std::size_t i = text.starts_with(mark) ? mark.size() : 0; i < text.size();) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    std::string line = text.substr(i, end - i);
    if (line.ends_with('\r')) line.pop_back();
    ++lines.count;
    const std::size_t wrong = invalid_utf8(line);
    if (wrong == std::string::npos) {
      lines.good.push_back({lines.count, line});
    } else {
      lines.bad.push_back({path, lines.count, fmt::format("byte {} is not UTF-8", wrong + 1)});
    }
    i = end + 1;
  }
  check(lines.count > 0, "{}: the file is empty", path);
  return lines;
}

ParallelText read_tsv(const std::string& path, const ParallelOptions& options) {
  Lines lines = read_lines(path);
  ParallelText text{{}, std::move(lines.bad)};
  for (const TextLine& line : lines.good) {
    const auto columns = 1 + std::count(line.text.begin(), line.text.end(), '\t');
    if (columns != 2) {
      text.bad.push_back({path, line.number, fmt::format("{} columns, must be 2", columns)});
      continue;
    }
    const std::size_t tab = line.text.find('\t');
    add_pair(text, {path, path}, {line.number, line.text.substr(0, tab), line.text.substr(tab + 1)},
             options);
  }
  return checked(std::move(text), path);
}

ParallelText read_aligned(const std::string& sources, const std::string& targets,
                          const ParallelOptions& options) {
  const Lines left = read_lines(sources), right = read_lines(targets);
  check(left.count == right.count, "{} has {} lines and {} has {}: they do not belong together",
        sources, left.count, targets, right.count);
  ParallelText text{{}, left.bad};
  text.bad.insert(text.bad.end(), right.bad.begin(), right.bad.end());
  auto other = right.good.begin();
  for (const TextLine& line : left.good) {
    while (other != right.good.end() && other->number < line.number) ++other;
    if (other == right.good.end() || other->number != line.number) continue;  // is in right.bad
    add_pair(text, {sources, targets}, {line.number, line.text, other->text}, options);
  }
  return checked(std::move(text), sources);
}

}  // namespace gradzoo::examples
