// A walk as a page that opens from disk.
#include "examples/common/walk/walk_page.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "examples/common/page.h"
#include "examples/common/walk/drawing.h"
#include "examples/common/walk/layout.h"
#include "examples/common/walk/walk_json.h"

namespace gradzoo::examples {
namespace {

using Json = nlohmann::ordered_json;

// Pages stay below two megabytes: the more there is to show, the fewer tensors are whole.
constexpr std::size_t kMostBytes = 1'500'000;

Json drawing_json(const Drawing& drawing) {
  const char* kinds[] = {"value", "module", "from", "to"};
  Json items = Json::array(), edges = Json::array();
  for (const DrawnItem& item : drawing.items) {
    Json out = {{"kind", kinds[static_cast<int>(item.kind)]},
                {"title", item.title},
                {"detail", item.detail}};
    if (item.node != kNone) out["node"] = item.node;
    if (!item.scopes.empty()) out["scopes"] = item.scopes;
    items.push_back(std::move(out));
  }
  for (const auto& edge : drawing.edges) edges.push_back({edge.first, edge.second});
  return {{"graph", drawing.graph},
          {"scope", drawing.scope == kNone ? Json(-1) : Json(drawing.scope)},
          {"items", std::move(items)},
          {"edges", std::move(edges)}};
}

Json geometry_json(const Geometry& geometry) {
  const auto pixels = [](double x) { return std::round(x * 10) / 10; };
  Json boxes = Json::array(), lines = Json::array();
  for (const Geometry::Box& box : geometry.boxes) {
    boxes.push_back({pixels(box.x), pixels(box.y), pixels(box.width), pixels(box.height)});
  }
  for (const std::vector<double>& line : geometry.lines) {
    Json points = Json::array();
    for (const double x : line) points.push_back(pixels(x));
    lines.push_back(std::move(points));
  }
  return {{"width", pixels(geometry.width)},
          {"height", pixels(geometry.height)},
          {"boxes", std::move(boxes)},
          {"lines", std::move(lines)}};
}

void add_drawings(const Walk& walk, Json& data) {
  const std::vector<Drawing> drawings = drawings_of(walk);
  const std::optional<Layout> layout = lay_out(drawings);
  data["drawings"] = Json::array();
  for (std::size_t i = 0; i < drawings.size(); ++i) {
    data["drawings"].push_back(drawing_json(drawings[i]));
    if (layout) data["drawings"].back()["geometry"] = layout->of[i];
  }
  data["geometries"] = Json::array();
  if (!layout) return;
  for (const Geometry& geometry : layout->geometries) {
    data["geometries"].push_back(geometry_json(geometry));
  }
}

}  // namespace

void write_walk_page(const std::string& path, const Walk& walk) {
  Json data;
  for (const std::int64_t most : {512, 128, 32, 4}) {
    data = walk_json(walk, most);
    if (script_json(data).size() < kMostBytes) break;
  }
  add_drawings(walk, data);
  const Page page = {
      .title = walk.title + " · gradzoo",
      .body = "<main id=\"page\"><noscript>This page needs JavaScript.</noscript></main>",
      .scripts = {"dom.js", "heatmap.js", "step_data.js", "step_tensor.js", "step_places.js",
                  "step_graph.js", "step_list.js", "step_card.js", "step_norms.js",
                  "step_scrubber.js", "step.js"},
      .styles = {"heatmap.css", "step.css"}};
  write_page(path, page, data);
}

}  // namespace gradzoo::examples
