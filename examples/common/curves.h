// Curves over the steps of a run: read from its metrics, and thinned so that a page can hold them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gradzoo::examples {

/// A value at a step; NaN where there was none.
struct Point {
  double step = 0, value = 0;
};

/// By name of the value: "loss", "valid_loss", "lr", …
using Curves = std::map<std::string, std::vector<Point>>;

/// All numbers in a file of metrics (a line of JSON with a "step" for each look at a run), by the
/// "model" that the lines name; those of a run with one model name none: "". Lines that were cut
/// short are skipped. Throws Error when the file cannot be read.
std::map<std::string, Curves> read_metrics(const std::string& path);

/// At most `most` of the points, in their order: the first, the last, and of each stretch between
/// them the lowest and the highest, so that no peak is lost. `most` is at least 4.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most);

}  // namespace gradzoo::examples
