// Wrapping, cutting and tables.
#include "examples/common/walk/text_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/format.h"
#include "examples/common/shown_text.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kWhole = 64;  // larger tensors are statistics
constexpr std::size_t kMostRows = 12;

// The bytes of as many characters as `width` columns have room for.
std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t bytes = 0, used = 0;
  for (const std::string& point : code_points(text)) {
    used += columns(point);
    if (used > width) break;
    bytes += point.size();
  }
  return bytes;
}

Lines split_lines(std::string_view text) {
  Lines lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

void wrap_line(std::string_view line, std::size_t width, std::size_t indent, Lines& out) {
  const std::size_t blanks = std::min({line.find_first_not_of(' '), line.size(), width / 2});
  std::string now(blanks, ' ');
  line.remove_prefix(blanks);
  bool empty = true;  // but for the indent
  const auto flush = [&] {
    out.push_back(now);
    now = std::string(indent, ' ');
    empty = true;
  };
  while (!line.empty()) {
    const std::size_t space = std::min(line.find(' '), line.size());
    std::string_view word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
    if (!empty && columns(now) + 1 + columns(word) > width) flush();
    if (!empty) now += ' ';
    while (columns(now) + columns(word) > width) {  // a word longer than a line
      const std::size_t bytes = bytes_of(word, width - columns(now));
      now += word.substr(0, bytes);
      word.remove_prefix(bytes);
      flush();
    }
    now += word;
    empty = false;
  }
  out.push_back(now);
}

bool is_number(const std::string& cell) {
  return cell == "nan" || cell == "inf" || cell == "-inf" ||
         cell.find_first_not_of("0123456789+-.e%") == std::string::npos;
}

}  // namespace

std::size_t columns(std::string_view text) { return text_columns(text); }

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  }
  return out;
}

std::string cut(const std::string& text, std::size_t width) {
  if (columns(text) <= width) return text;
  if (width < 3) return text.substr(0, bytes_of(text, width));
  return text.substr(0, bytes_of(text, width - 3)) + "...";
}

std::string cut_front(const std::string& text, std::size_t width) {
  const std::size_t has = columns(text);
  if (has <= width || width < 3) return cut(text, width);
  return "..." + text.substr(bytes_of(text, has + 3 - width));
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, columns(text)), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, columns(text)), ' ') + text;
}

Lines wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  Lines lines;
  for (const std::string& line : split_lines(text)) {
    wrap_line(printable(line), width, std::min(indent, width / 2), lines);
  }
  return lines;
}

Lines table_lines(const std::vector<std::string>& heads,
                  const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  if (heads.empty()) return {};
  std::vector<std::size_t> widths(heads.size());
  std::vector<bool> numbers(heads.size(), !rows.empty());
  for (std::size_t k = 0; k < heads.size(); ++k) {
    widths[k] = columns(heads[k]);
    for (const std::vector<std::string>& row : rows) {
      widths[k] = std::max(widths[k], columns(row[k]));
      numbers[k] = numbers[k] && is_number(row[k]);
    }
  }
  std::size_t others = 0;
  for (std::size_t k = 1; k < widths.size(); ++k) others += 2 + widths[k];
  if (widths[0] + others > width) widths[0] = width > others + 8 ? width - others : 8;
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string cell =
          k > 0 ? printable(cells[k]) : cut_front(printable(cells[k]), widths[k]);
      if (k > 0) line += "  ";
      line += k > 0 && numbers[k] ? right(cell, widths[k]) : left(cell, widths[k]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return cut(line, width);
  };
  Lines lines = {line_of(heads)};
  for (const std::vector<std::string>& row : rows) lines.push_back(line_of(row));
  return lines;
}

Lines number_lines(const Tensor& x, std::size_t width) {
  if (!x.defined()) return {"none"};
  if (x.numel() > kWhole) return wrapped(summary(x, 0), width);
  const std::string line = summary(x, kWhole);
  if (columns(line) <= width && x.dim() < 2) return {line};
  std::string whole = to_string(x);
  whole.resize(whole.size() - type_text(x).size() - 1);
  const Lines rows = split_lines(whole);
  const bool fits = rows.size() <= kMostRows &&
                    std::all_of(rows.begin(), rows.end(),
                                [&](const std::string& row) { return columns(row) <= width; });
  return fits ? rows : wrapped(summary(x, 0), width);
}

std::string type_text(const Tensor& x) { return fmt::format("{} {}", x.dtype(), x.shape()); }

}  // namespace gradzoo::examples
