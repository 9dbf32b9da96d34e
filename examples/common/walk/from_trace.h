// Nodes and steps of a walk from the engine's record of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/trace.h"
#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

/// Tensors by name, as nn::named_parameters gives them.
using Names = std::vector<std::pair<std::string, Tensor>>;

/// What a node of a walk is in the engine.
struct Origin {
  std::uint64_t sequence = 0;  ///< of its node in the graph, 0 for none
  std::size_t step = kNone;    ///< position in the trace; none for leaves and constants
};

/// Adds a graph with a node for each value and a step for each op, forward and backward, of a
/// traced run; `output` is the sequence of the node it ends in. Values are copied. What an op did
/// without leaving a node (a mask, an index) is linked by the memory its result lies in.
///
/// A leaf or constant that `names` calls by a name without a dot ("x") is outside all scopes. Any
/// other ("encoder.0.weight", a constant made on the way) is in the innermost scope that all of
/// its users are in.
///
/// Returns the origins of the new nodes, from WalkGraph::first on.
std::vector<Origin> add_graph(Walk& walk, const std::string& title, const Names& names,
                              const std::vector<TraceStep>& steps, std::uint64_t output);

}  // namespace gradzoo::examples
