// Reverse-mode differentiation: gradients of a scalar (or of a weighted sum of outputs).
#pragma once

#include <vector>

#include "core/scope.h"
#include "core/tensor.h"

namespace gradzoo {

struct GradOptions {
  /// Gradients of the outputs, one per output and shaped like it; empty: all outputs are scalars
  /// and start from 1.
  std::vector<Tensor> grad_outputs = {};
  /// Record the gradients themselves, so that they can be differentiated again. Implies
  /// retain_graph.
  bool create_graph = false;
  /// Keep the saved values, so that the graph can be walked again.
  bool retain_graph = false;
  /// Give an undefined tensor for an input that the outputs do not depend on. Otherwise that is
  /// an error.
  bool allow_unused = false;
};

/// Gradients of the sum of `outputs` with respect to each of `inputs` (leaves, or anything
/// computed on the way). Leaves' grad() stays as it is. Throws when an output has no history,
/// when the graph was released, and when an op on the way has no gradient.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {});

/// The nodes that `outputs` were computed from, inputs before the ops that use them.
std::vector<std::shared_ptr<Node>> graph_nodes(const std::vector<Tensor>& outputs);

}  // namespace gradzoo
