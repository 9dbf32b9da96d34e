// Where the boxes of drawings go: the program dot is told how large they are and what they are
// connected with. Names and texts never get there.
#include "examples/common/walk/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "examples/common/call_program.h"

namespace gradzoo::examples {
namespace {

constexpr std::chrono::seconds kLimit(20);
constexpr double kInch = 72;  // pixels

double letters(const std::string& utf8) {
  return static_cast<double>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not inside a character
  }));
}

std::string dot_text(const Drawing& drawing) {
  std::string out =
      "digraph drawing {\ngraph [nodesep=0.2, ranksep=0.3, nslimit=2, nslimit1=2];\n"
      "node [shape=box, fixedsize=true, label=\"\"];\nedge [arrowhead=none];\n";
  for (std::size_t i = 0; i < drawing.items.size(); ++i) {
    // As wide as the page's font needs it.
    const double most = std::max(letters(drawing.items[i].title), letters(drawing.items[i].detail));
    const double width = std::min(most, 34.0) * 7.4 + 20;
    out += fmt::format("i{} [width={:.3f}, height={:.3f}];\n", i, width / kInch, 40 / kInch);
  }
  std::vector<bool> computed(drawing.items.size(), false);
  for (const auto& edge : drawing.edges) computed[edge.second] = true;
  for (const auto& edge : drawing.edges) {
    // The way of what is computed is straight, and parameters stand beside it.
    out += fmt::format("i{} -> i{} [weight={}];\n", edge.first, edge.second,
                       computed[edge.first] ? 8 : 1);
  }
  return out + "}\n";
}

std::size_t item_number(const std::string& name) { return std::stoul(name.substr(1)); }

// One drawing in dot's "plain" format: inches from the lower left corner.
std::optional<Geometry> read_geometry(std::istream& in, const Drawing& drawing) {
  Geometry geometry;
  geometry.boxes.resize(drawing.items.size());
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> lines;
  std::string line, word, from, to;
  const auto flipped = [&](double y) { return geometry.height - y * kInch; };
  while (std::getline(in, line)) {
    std::istringstream words(line);
    words >> word;
    double x = 0, y = 0, width = 0, height = 0;
    if (word == "stop") break;
    if (word == "graph" && words >> word >> width >> height) {
      geometry.width = width * kInch;
      geometry.height = height * kInch;
    } else if (word == "node" && words >> from >> x >> y >> width >> height) {
      geometry.boxes.at(item_number(from)) = {x * kInch, flipped(y), width * kInch, height * kInch};
    } else if (word == "edge" && words >> from >> to >> word) {
      std::vector<double>& points = lines[{item_number(from), item_number(to)}];
      for (std::size_t k = std::stoul(word); k > 0 && words >> x >> y; --k) {
        points.insert(points.end(), {x * kInch, flipped(y)});
      }
    }
  }
  for (const auto& edge : drawing.edges) geometry.lines.push_back(lines[edge]);
  if (word != "stop") return std::nullopt;
  return geometry;
}

}  // namespace

std::optional<Layout> lay_out(const std::vector<Drawing>& drawings) {
  Layout layout;
  std::map<std::string, std::size_t> known;
  std::string input;
  std::vector<const Drawing*> different;
  for (const Drawing& drawing : drawings) {
    const std::string text = dot_text(drawing);
    const auto [found, is_new] = known.try_emplace(text, different.size());
    layout.of.push_back(found->second);
    if (!is_new) continue;
    input += text;
    different.push_back(&drawing);
  }
  const std::optional<std::string> output = output_of({"dot", "-Tplain"}, input, kLimit);
  if (!output) return std::nullopt;
  std::istringstream in(*output);
  try {
    for (const Drawing* drawing : different) {
      std::optional<Geometry> geometry = read_geometry(in, *drawing);
      if (!geometry) return std::nullopt;
      layout.geometries.push_back(std::move(*geometry));
    }
  } catch (const std::logic_error&) {  // not the numbers it should have written
    return std::nullopt;
  }
  return layout;
}

}  // namespace gradzoo::examples
