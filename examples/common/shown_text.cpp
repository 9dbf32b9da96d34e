// Code points, the columns they take, and where to cut.
#include "examples/common/shown_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "examples/common/vocabulary.h"

namespace gradzoo::examples {
namespace {

using Range = std::array<std::uint32_t, 2>;  // first and last

// Unicode's wide characters and the combining ones, in the ranges that occur in texts.
constexpr std::array<Range, 14> kWide{{{0x1100, 0x115f},
                                       {0x2e80, 0x303e},
                                       {0x3041, 0xa4cf},
                                       {0xa960, 0xa97f},
                                       {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},
                                       {0xffe0, 0xffe6},
                                       {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff},
                                       {0x1f900, 0x1f9ff},
                                       {0x1fa70, 0x1faff},
                                       {0x20000, 0x3fffd}}};
constexpr std::array<Range, 9> kCombining{{{0x300, 0x36f},
                                           {0x483, 0x489},
                                           {0x591, 0x5bd},
                                           {0x64b, 0x65f},
                                           {0x1ab0, 0x1aff},
                                           {0x1dc0, 0x1dff},
                                           {0x20d0, 0x20ff},
                                           {0xfe00, 0xfe0f},
                                           {0xfe20, 0xfe2f}}};
// Control characters, what is written like them, and marks that turn the direction of writing.
constexpr std::array<Range, 7> kUnseen{{{0x0, 0x1f},
                                        {0x7f, 0x9f},
                                        {0x200b, 0x200f},
                                        {0x2028, 0x202e},
                                        {0x2060, 0x2069},
                                        {0xfeff, 0xfeff},
                                        {0xfffe, 0xffff}}};

bool is_in(std::uint32_t code, const auto& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code >= range[0] && code <= range[1]; });
}

// Of a valid code point in UTF-8.
std::uint32_t code_of(const std::string& point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(point[i]); };
  if (point.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xffu >> (point.size() + 1));
  for (std::size_t i = 1; i < point.size(); ++i) code = code << 6 | (byte(i) & 0x3fu);
  return code;
}

bool is_valid(const std::string& point) { return invalid_utf8(point) == std::string::npos; }

std::size_t columns_of(const std::string& point) {
  if (!is_valid(point)) return 1;
  const std::uint32_t code = code_of(point);
  return is_in(code, kCombining) ? 0 : is_in(code, kWide) ? 2 : 1;
}

}  // namespace

std::vector<std::string> code_points(std::string_view text) {
  return tokenize(Level::character, std::string(text));
}

std::string shown_token(std::string_view token) {
  if (token.empty()) return "''";
  std::string shown;
  for (const std::string& point : code_points(token)) {
    if (point == " ") {
      shown += "␣";
    } else if (point == "\n") {
      shown += "↵";
    } else if (point == "\t") {
      shown += "⇥";
    } else if (!is_valid(point) || is_in(code_of(point), kUnseen)) {
      shown += "\uFFFD";
    } else {
      shown += point;
    }
  }
  return shown;
}

std::size_t text_columns(std::string_view text) {
  std::size_t columns = 0;
  for (const std::string& point : code_points(text)) columns += columns_of(point);
  return columns;
}

std::string cut_text(std::string_view text, std::size_t columns) {
  if (text_columns(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::string cut;
  std::size_t used = 0;
  for (const std::string& point : code_points(text)) {
    used += columns_of(point);
    if (used > columns - 1) break;
    cut += point;
  }
  return cut + "…";
}

}  // namespace gradzoo::examples
