// A record of everything that was computed while it was open: pictures, stepping and profiles are
// made from it. Without one, nothing is kept that backward does not need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/node.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace gradzoo {

/// One op, forward or backward, with its values (detached, in the order of the op's arguments).
struct TraceStep {
  bool backward = false;
  const char* op = "";
  std::string scope;                       ///< path of named scopes
  std::uint64_t node = 0;                  ///< sequence of the graph node, 0 when the op left none
  std::vector<std::uint64_t> input_nodes;  ///< sequences of the inputs' nodes, 0 for none
  std::vector<Tensor> inputs;  ///< forward: the op's inputs. backward: gradient of the output
  std::vector<Tensor>
      outputs;  ///< forward: the output. backward: a gradient per input, or undefined
};

/// Keeps every step in order while it lives (per thread). Gradients of leaves are in the steps
/// named "accumulate": inputs are what was there and what is added, the output is the sum.
class Trace : ModeGuard {
 public:
  Trace() { modes().trace = this; }

  const std::vector<TraceStep>& steps() const { return steps_; }
  void add(TraceStep step) { steps_.push_back(std::move(step)); }

 private:
  std::vector<TraceStep> steps_;
};

}  // namespace gradzoo
