// Where the boxes of drawings go, decided by Graphviz.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "examples/common/walk/drawing.h"

namespace gradzoo::examples {

/// Where the boxes and lines of a drawing go, in pixels from the upper left corner.
struct Geometry {
  double width = 0, height = 0;
  struct Box {
    double x = 0, y = 0, width = 0, height = 0;  ///< x and y of its middle
  };
  std::vector<Box> boxes;                  ///< one for each item
  std::vector<std::vector<double>> lines;  ///< one for each edge: x and y of Bezier points
};

/// Drawings of the same shape share a geometry.
struct Layout {
  std::vector<Geometry> geometries;
  std::vector<std::size_t> of;  ///< per drawing: position in geometries
};

/// Laid out by Graphviz's program dot; nothing without it, or when it fails or takes too long.
std::optional<Layout> lay_out(const std::vector<Drawing>& drawings);

}  // namespace gradzoo::examples
