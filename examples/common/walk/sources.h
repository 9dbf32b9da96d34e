// Which cells of its inputs each cell of an op's output was made from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/node.h"

namespace gradzoo::examples {

/// Tensors of more cells have no sources.
inline constexpr std::int64_t kMostSourceCells = 128;

/// Per input and cell of the output: cells of that input (WalkNode::sources).
using Sources = std::vector<std::vector<std::vector<std::int32_t>>>;

/// Asks the node's vjp, which must not have been released yet: a NaN in one cell of the gradient
/// reaches just the cells of the inputs that it flows to. A cell through which nothing can flow
/// (relu of a negative number, a masked score) has none. Empty when the output is too large, or
/// when the op has no gradient.
Sources sources_of(const std::shared_ptr<Node>& node);

}  // namespace gradzoo::examples
