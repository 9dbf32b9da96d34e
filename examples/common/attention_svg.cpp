// The heads of all layers as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/common/attention_picture.h"
#include "examples/common/attention_statistics.h"
#include "examples/common/page.h"
#include "examples/common/shown_text.h"

namespace gradzoo::examples {
namespace {

constexpr double kMargin = 16, kGap = 24;
constexpr double kLetter = 6.2;       // width of one, at 10 pixels
constexpr std::size_t kLongest = 10;  // letters of a label
constexpr double kCaption = 40;       // below a map

// Where the parts of one map are, from its upper left corner.
struct Place {
  double cell = 0, left = 0, top = 0;  // labels are left of the cells, and above
  double width = 0, height = 0;        // of it all
};

double label_room(const std::vector<std::string>& names) {
  std::size_t longest = 1;
  for (const std::string& name : names) {
    longest = std::max(longest, text_columns(cut_text(shown_token(name), kLongest)));
  }
  return kLetter * static_cast<double>(longest) + 8;
}

Place place_of(const AttentionMap& map) {
  const auto queries = static_cast<double>(map.queries.size());
  const auto keys = static_cast<double>(map.keys.size());
  Place at;
  at.cell = std::clamp(200 / std::max(queries, keys), 3.0, 22.0);
  at.left = label_room(map.queries);
  at.top = label_room(map.keys) + 16;
  at.width = at.left + std::max(at.cell * keys, 150.0);
  at.height = at.top + at.cell * queries + kCaption;
  return at;
}

std::string text(double x, double y, const std::string& attributes, std::string_view content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes,
                     html_text(content));
}

// Every label, or as many as there is room for.
std::string labels(const AttentionMap& map, const Place& at) {
  const auto every = static_cast<std::size_t>(std::ceil(10 / at.cell));
  std::string out;
  for (std::size_t i = 0; i < map.queries.size(); i += every) {
    const double y = at.top + (static_cast<double>(i) + 0.5) * at.cell + 3.5;
    out += text(at.left - 5, y, " text-anchor=\"end\"",
                cut_text(shown_token(map.queries[i]), kLongest));
  }
  for (std::size_t i = 0; i < map.keys.size(); i += every) {
    const double x = at.left + (static_cast<double>(i) + 0.5) * at.cell + 3.5, y = at.top - 5;
    out += text(x, y, fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y),
                cut_text(shown_token(map.keys[i]), kLongest));
  }
  return out;
}

std::string rectangle(const Place& at, std::int64_t query, std::int64_t key, std::int64_t keys,
                      const std::string& fill) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n",
                     at.left + static_cast<double>(key) * at.cell,
                     at.top + static_cast<double>(query) * at.cell,
                     static_cast<double>(keys) * at.cell, at.cell, fill);
}

// What is masked as runs of hatching, and the weights that can be told from none.
std::string cells(const AttentionCells& all, const Place& at) {
  std::string out;
  for (std::int64_t query = 0; query < all.queries; ++query) {
    for (std::int64_t key = 0; key < all.keys; ++key) {
      std::int64_t run = key;
      while (run < all.keys && all.is_masked(query, run)) ++run;
      if (run > key) {
        out += rectangle(at, query, key, run - key, "class=\"masked\" fill=\"url(#masked)\"");
        key = run - 1;
      } else if (all.weight(query, key) >= 0.005) {
        out += rectangle(at, query, key, 1,
                         fmt::format("fill-opacity=\"{:.2f}\"", all.weight(query, key)));
      }
    }
  }
  return out;
}

std::string share(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "none";
}

std::string map_svg(const AttentionMap& map, double x, double y, const Place& at) {
  const AttentionStatistics s = attention_statistics(map);
  const auto queries = static_cast<double>(map.queries.size());
  const auto keys = static_cast<double>(map.keys.size());
  const double below = at.top + at.cell * queries;
  const std::string name = fmt::format("layer {}, head {}", map.layer + 1, map.head + 1);
  std::string out =
      fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n<title>{}</title>\n", x, y, name);
  out += text(at.left, 10, " class=\"name\"", name);
  out += labels(map, at);
  out += fmt::format("<g fill=\"#1f6feb\">\n{}</g>\n", cells(AttentionCells(map), at));
  out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"none\" stroke=\"#98a1a9\"/>\n",
      at.left, at.top, at.cell * keys, at.cell * queries);
  out += text(at.left, below + 13, " class=\"note\"",
              fmt::format("entropy {:.2f} of {:.2f}", s.entropy, s.most_entropy));
  out += text(at.left, below + 24, " class=\"note\"",
              fmt::format("diagonal {}, anti {}", share(s.diagonal), share(s.anti_diagonal)));
  out +=
      text(at.left, below + 35, " class=\"note\"", fmt::format("previous {}", share(s.previous)));
  return out + "</g>\n";
}

// What has been drawn, and how far it reaches.
struct Canvas {
  std::string content;
  double width = 320, bottom = kMargin;

  void heading(const char* kind, std::string_view words) {
    bottom += 18;
    content += text(kMargin, bottom, fmt::format(" class=\"{}\"", kind), words);
    width = std::max(width, 2 * kMargin + 9 * static_cast<double>(text_columns(words)));
    bottom += 12;
  }

  void grid(const AttentionView& view, AttentionPart part) {
    Place at;
    std::int64_t layers = 0;
    for (const AttentionMap& map : view.maps) {
      if (map.part != part) continue;
      at = place_of(map);
      const double x = kMargin + static_cast<double>(map.head) * (at.width + kGap);
      const double y = bottom + static_cast<double>(map.layer) * (at.height + kGap / 2);
      content += map_svg(map, x, y, at);
      width = std::max(width, x + at.width + kMargin);
      layers = std::max(layers, map.layer + 1);
    }
    bottom += static_cast<double>(layers) * (at.height + kGap / 2);
  }
};

}  // namespace

std::string attention_svg(const std::vector<AttentionView>& views) {
  Canvas canvas;
  for (const AttentionView& view : views) {
    canvas.heading("model", view_title(view));
    for (const AttentionPart part : parts_of(view)) {
      canvas.heading("part", part_title(part));
      canvas.grid(view, part);
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<desc>What the attention heads look at. Made by gradzoo attention.</desc>\n"
      "<style>text {{ font: 10px monospace; fill: #1d2226; }} .model {{ font: bold 15px "
      "sans-serif; }}\n.part {{ font: 13px sans-serif; }} .note {{ font-size: 9px; }} "
      ".name {{ font-weight: bold; }}</style>\n"
      "<defs><pattern id=\"masked\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
      "<rect width=\"4\" height=\"4\" fill=\"#eceef0\"/>"
      "<path d=\"M0 4L4 0\" stroke=\"#9aa1a8\" stroke-width=\"0.8\"/></pattern></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      canvas.width, canvas.bottom + kMargin, canvas.content);
}

}  // namespace gradzoo::examples
