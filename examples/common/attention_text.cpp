// The heads as block characters, and what every picture has in common: titles and order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "examples/common/attention_picture.h"
#include "examples/common/attention_statistics.h"
#include "examples/common/shown_text.h"
#include "examples/common/walk/text_layout.h"

namespace gradzoo::examples {
namespace {

constexpr std::size_t kLongestQuery = 8;  // columns of a label
constexpr std::size_t kMostLetters = 6;   // of a key's label, one below the other
constexpr std::size_t kNarrowest = 20;    // columns of a map: its notes need them
constexpr std::array<const char*, 5> kShades{" ", "░", "▒", "▓", "█"};
constexpr std::array<double, 4> kLeast{0.05, 0.25, 0.5, 0.75};  // weights, of the second and later

// Columns of one map.
struct Layout {
  std::size_t label = 0, cell = 2, keys = 0, width = 0;

  Layout(const AttentionMap& map, std::size_t columns) : keys(map.keys.size()) {
    for (const std::string& query : map.queries) {
      label = std::max(label, std::min(text_columns(shown_token(query)), kLongestQuery));
    }
    const std::size_t room = columns > label + 1 ? columns - label - 1 : 1;
    if (keys * cell > room) cell = 1;
    keys = std::min(keys, room);
    width = std::min(columns, std::max(label + 1 + keys * cell, kNarrowest));
  }
};

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// The labels of the keys: side by side when they are short, else letter below letter.
Lines key_lines(const AttentionMap& map, const Layout& at) {
  std::size_t longest = 1;
  std::vector<std::vector<std::string>> letters;
  for (std::size_t key = 0; key < at.keys; ++key) {
    const std::string shown = shown_token(map.keys[key]);
    const bool fits = text_columns(shown) <= at.cell;
    letters.push_back(fits ? Lines{shown} : code_points(cut_text(shown, kMostLetters)));
    longest = std::max(longest, letters.back().size());
  }
  Lines lines(longest, std::string(at.label + 1, ' '));
  for (const std::vector<std::string>& key : letters) {
    const std::size_t above = longest - key.size();
    for (std::size_t i = 0; i < longest; ++i) {
      lines[i] += left(i < above ? "" : cut_text(key[i - above], at.cell), at.cell);
    }
  }
  return lines;
}

std::string row_line(const AttentionMap& map, const AttentionCells& cells, const Layout& at,
                     std::int64_t query, bool color) {
  const std::string blue = color ? "\033[34m" : "", faint = color ? "\033[2m" : "",
                    plain = color ? "\033[0m" : "";
  std::string line =
      right(cut_text(shown_token(map.queries[static_cast<std::size_t>(query)]), at.label),
            at.label) +
      " ";
  for (std::size_t k = 0; k < at.keys; ++k) {
    const auto key = static_cast<std::int64_t>(k);
    if (cells.is_masked(query, key)) {
      line += faint + repeated("·", at.cell) + plain;
      continue;
    }
    const auto shade =
        static_cast<std::size_t>(std::count_if(kLeast.begin(), kLeast.end(), [&](double least) {
          return cells.weight(query, key) >= least;
        }));
    line += blue + repeated(kShades.at(shade), at.cell) + plain;
  }
  return line;
}

std::string share(const char* name, const std::optional<double>& value) {
  return value ? fmt::format("{} {:.2f}", name, *value) : fmt::format("{} none", name);
}

// Columns that are seen: escape sequences take none.
std::size_t seen_columns(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033')
      i = line.find('m', i);
    else
      text += line[i];
  }
  return text_columns(text);
}

Lines map_lines(const AttentionMap& map, const Layout& at, bool color) {
  const AttentionCells cells(map);
  const AttentionStatistics s = attention_statistics(map);
  Lines lines{fmt::format("layer {}, head {}", map.layer + 1, map.head + 1)};
  for (const std::string& line : key_lines(map, at)) lines.push_back(line);
  for (std::int64_t query = 0; query < cells.queries; ++query) {
    lines.push_back(row_line(map, cells, at, query, color));
  }
  lines.push_back(fmt::format("entropy {:.2f} of {:.2f}", s.entropy, s.most_entropy));
  lines.push_back(share("diagonal", s.diagonal));
  lines.push_back(share("anti-diagonal", s.anti_diagonal));
  lines.push_back(share("previous", s.previous));
  for (std::string& line : lines) {
    const std::size_t columns = seen_columns(line);
    if (columns > at.width) line = cut_text(line, at.width);  // notes alone are that wide
    if (columns < at.width) line += std::string(at.width - columns, ' ');
  }
  return lines;
}

std::string side_by_side(const std::vector<Lines>& blocks) {
  std::string text;
  for (std::size_t i = 0; i < blocks.front().size(); ++i) {
    std::string line;
    for (const Lines& block : blocks) line += (line.empty() ? "" : "  ") + block[i];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + "\n";
}

std::string part_text(const AttentionView& view, AttentionPart part,
                      const AttentionTextOptions& o) {
  std::string text = cut_text(part_title(part), o.columns) + "\n\n";
  std::vector<Lines> blocks;
  std::size_t used = 0;
  std::int64_t layer = 0;
  for (const AttentionMap& map : view.maps) {
    if (map.part != part) continue;
    const Layout at(map, o.columns);
    if (!blocks.empty() && (map.layer != layer || used + 2 + at.width > o.columns)) {
      text += side_by_side(blocks);
      blocks.clear();
    }
    if (at.keys < map.keys.size() && map.layer == 0 && map.head == 0) {
      text +=
          cut_text(fmt::format("(the first {} of {} keys)", at.keys, map.keys.size()), o.columns) +
          "\n";
    }
    used = blocks.empty() ? at.width : used + 2 + at.width;
    layer = map.layer;
    blocks.push_back(map_lines(map, at, o.color));
  }
  if (!blocks.empty()) text += side_by_side(blocks);
  return text;
}

std::string steps_text(const AttentionView& view, std::size_t columns) {
  std::string text = cut_text("What might have been written, step by step", columns) + "\n\n";
  for (std::size_t t = 0; t < view.steps.size(); ++t) {
    const AnswerStep& step = view.steps[t];
    std::string line =
        fmt::format("{:>3} {} {:5.1f} %  ", t + 1,
                    left(cut_text(shown_token(step.token), kLongestQuery), kLongestQuery),
                    100 * step.probability);
    for (const auto& likely : step.likeliest) {
      line += fmt::format(" {} {:.1f}", cut_text(shown_token(likely.first), kLongestQuery),
                          100 * likely.second);
    }
    text += cut_text(line, columns) + "\n";
  }
  return text + "\n";
}

std::string shown_words(const std::string& text) {
  std::string words;
  for (const std::string& point : code_points(text)) {
    words += point == " " ? point : shown_token(point);
  }
  return words;
}

}  // namespace

const char* part_title(AttentionPart part) {
  switch (part) {
    case AttentionPart::source:
      return "Encoder self-attention: the source looks at itself";
    case AttentionPart::answer:
      return "Decoder self-attention: the answer looks at itself";
    case AttentionPart::answer_to_source:
      return "Cross attention: the answer looks at the source";
    case AttentionPart::sequence:
      break;
  }
  return "Self-attention: source and answer look at themselves";
}

std::vector<AttentionPart> parts_of(const AttentionView& view) {
  std::vector<AttentionPart> parts;
  for (const AttentionPart part : {AttentionPart::source, AttentionPart::answer,
                                   AttentionPart::answer_to_source, AttentionPart::sequence}) {
    if (std::any_of(view.maps.begin(), view.maps.end(),
                    [part](const AttentionMap& map) { return map.part == part; })) {
      parts.push_back(part);
    }
  }
  return parts;
}

std::string view_title(const AttentionView& view) {
  return fmt::format("{}: {} → {}{}, probability {:.1f} %", shown_words(view.model),
                     shown_words(view.source), shown_words(view.answer), view.finished ? "" : "…",
                     100 * std::exp(view.log_prob));
}

std::string attention_text(const std::vector<AttentionView>& views,
                           const AttentionTextOptions& options) {
  const std::size_t columns = std::max<std::size_t>(options.columns, 20);
  const AttentionTextOptions o{columns, options.color};
  std::string text;
  for (const AttentionView& view : views) {
    text += cut_text(view_title(view), columns) + "\n\n";
    for (const AttentionPart part : parts_of(view)) text += part_text(view, part, o);
    text += steps_text(view, columns);
  }
  return text +
         cut_text(
             "gradzoo attention: ░ from 5 %, ▒ 25 %, ▓ 50 %, █ 75 % of the weight; · is masked",
             columns) +
         "\n";
}

}  // namespace gradzoo::examples
