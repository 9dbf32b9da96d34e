// Reading and thinning curves.
#include "examples/common/curves.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace gradzoo::examples {
namespace {

void add_line(std::map<std::string, Curves>& all, const nlohmann::json& line) {
  const auto step = line.find("step");
  if (step == line.end() || !step->is_number()) return;
  const auto model = line.find("model");
  Curves& curves = all[model != line.end() && model->is_string() ? model->get<std::string>() : ""];
  for (const auto& [name, value] : line.items()) {
    // JSON has no NaN: what was none is null.
    if (name == "step" || !(value.is_number() || value.is_null())) continue;
    curves[name].push_back({step->get<double>(), value.is_null()
                                                     ? std::numeric_limits<double>::quiet_NaN()
                                                     : value.get<double>()});
  }
}

// The places of the lowest and the highest value of [from, to); both `from` when all are NaN.
std::pair<std::size_t, std::size_t> extremes(const std::vector<Point>& points, std::size_t from,
                                             std::size_t to) {
  std::size_t low = from, high = from;
  for (std::size_t i = from; i < to; ++i) {
    const double value = points[i].value;
    // The first comparison replaces a NaN by any number.
    if (!(value >= points[low].value) && !std::isnan(value)) low = i;
    if (!(value <= points[high].value) && !std::isnan(value)) high = i;
  }
  return {low, high};
}

}  // namespace

std::map<std::string, Curves> read_metrics(const std::string& path) {
  std::ifstream file(path);
  check(file.is_open(), "{}: {}", path, std::strerror(errno));
  std::map<std::string, Curves> all;
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, false);
    if (line.is_object()) add_line(all, line);
  }
  check(!file.bad(), "{}: cannot be read", path);
  return all;
}

std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  check(most >= 4, "thinned: must keep at least 4 points, got {}", most);
  if (points.size() <= most) return points;
  const std::size_t inner = points.size() - 2, stretches = (most - 2) / 2;
  std::vector<Point> kept{points.front()};
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto [low, high] =
        extremes(points, 1 + inner * s / stretches, 1 + inner * (s + 1) / stretches);
    kept.push_back(points[std::min(low, high)]);
    if (low != high) kept.push_back(points[std::max(low, high)]);
  }
  kept.push_back(points.back());
  return kept;
}

}  // namespace gradzoo::examples
