// Looking at a recorded graph: as a list to read, and as a picture (DOT).
#pragma once

#include <string>

#include "core/tensor.h"
#include "core/trace.h"

namespace gradzoo {

/// One line per node in order of recording: number, op, scope, shape, inputs, value where it is
/// still alive (whole when small, statistics when large), gradient of leaves.
std::string graph_list(const Tensor& output);

/// The graph in Graphviz's DOT, grouped by named scope; with a trace, values and gradients of
/// every node.
std::string graph_dot(const Tensor& output, const Trace* trace = nullptr);

}  // namespace gradzoo
