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

/// One op, forward or backward, with its values: detached, in the order of the op's arguments,
/// undefined where an optional input was missing or no gradient was needed.
struct TraceStep {
  bool backward = false;
  const char* op = "";
  std::string scope;                       ///< path of named scopes
  std::uint64_t node = 0;                  ///< sequence of the graph node, 0 when the op left none
  std::vector<std::uint64_t> input_nodes;  ///< sequences of the inputs' nodes, 0 for none
  std::vector<Tensor> inputs;   ///< forward: the op's inputs. backward: gradient of the output
  std::vector<Tensor> outputs;  ///< forward: the output. backward: a gradient per input
};

/// Keeps every step of this thread in order while it lives. Where gradients meet is a step named
/// "accumulate" of the node they belong to: its inputs are what was there and what is added, its
/// output is the sum. A leaf gets one at the end of backward(), with a single input when it had no
/// gradient yet.
///
/// Steps share the memory of the values they show, so a trace costs little while it records; what
/// assign() is about to overwrite is copied for it first. Steps that are to outlive the trace can
/// be copied from steps(); from then on they are ordinary tensors. A trace inside another records
/// for both.
class Trace : ModeGuard {
 public:
  Trace() : outer_(modes().trace) { modes().trace = this; }

  const std::vector<TraceStep>& steps() const { return steps_; }
  void add(TraceStep step);
  /// Called before `storage` is overwritten: steps that show it get a copy of what it holds.
  void keep_values(const StoragePtr& storage);

 private:
  Trace* const outer_;
  std::vector<TraceStep> steps_;
};

}  // namespace gradzoo
