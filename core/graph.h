// Looking at a recorded graph: as a list to read, and as a picture (DOT).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "core/trace.h"

namespace gradzoo {

/// What to show beside the graph itself.
struct GraphOptions {
  /// Values and gradients of every node. Without a trace: values that are still alive, and
  /// gradients of leaves.
  const Trace* trace = nullptr;
  /// Names of tensors, of parameters for instance.
  std::vector<std::pair<std::string, Tensor>> names = {};
};

/// One line per node in order of recording: number, op and inputs ("_" for one without gradient),
/// name, dtype and shape, scope, value and gradient (whole when small, statistics when large).
/// Throws when `output` has no history.
///
///     %1 = leaf x        f32 [3]  = [1, 2, 3]  grad [2, 4, 6]
///     %2 = mul(%1, %1)   f32 [3]  = [1, 4, 9]
///     %3 = sum(%2)       f32 []   = 14
std::string graph_list(const Tensor& output, const GraphOptions& options = {});

/// The graph in Graphviz's DOT, with what graph_list shows; each named scope is a box around the
/// nodes recorded in it. For `dot -Tsvg`.
std::string graph_dot(const Tensor& output, const GraphOptions& options = {});

}  // namespace gradzoo
