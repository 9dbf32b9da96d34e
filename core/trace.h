// A record of everything that was computed while it was open: pictures, stepping and profiles are
// made from it. Without one, nothing is kept that backward does not need.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/node.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace gradzoo {

/// One op, forward or backward, with its values: detached, in the order of the op's arguments,
/// undefined where an optional input was missing or no gradient was needed.
struct TraceStep {
  bool backward = false;
  Op op;
  ScopePtr scope;                          ///< innermost; path_of() tells all
  std::uint64_t node = 0;                  ///< sequence of the graph node, 0 when the op left none
  std::vector<std::uint64_t> input_nodes;  ///< sequences of the inputs' nodes, 0 for none
  std::vector<Tensor> inputs;   ///< forward: the op's inputs. backward: gradient of the output
  std::vector<Tensor> outputs;  ///< forward: the output. backward: a gradient per input
};

/// A change to one element of what a forward step puts out, f32 or f64.
struct Nudge {
  std::size_t step = 0;      ///< position in Trace::steps()
  std::int64_t element = 0;  ///< row-major position in the output
  double amount = 0;         ///< added to it
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
///
/// A function that runs the same ops every time has the same steps every time, with and without a
/// nudge. So two runs with nudges of +h and -h give the central difference with respect to
/// anything that was computed on the way. What is nudged gets memory of its own first: a view
/// changes without the tensor that it views. Backward still goes by what the op had computed. A
/// backward step, and a step that never comes, leave all as it is: nudged() tells. Of nested
/// traces the innermost nudges, or does not.
class Trace : ModeGuard {
 public:
  Trace() : outer_(modes().trace) { modes().trace = this; }
  /// The nudged op throws Error when its output has no such element, or is not f32 or f64.
  explicit Trace(const Nudge& nudge) : Trace() { nudge_ = nudge; }

  const std::vector<TraceStep>& steps() const { return steps_; }
  /// Whether the step to nudge has come.
  bool nudged() const { return nudged_; }
  void add(TraceStep step);
  /// Called before the step that puts out `out` is added: changes it when that one is nudged.
  void nudge(const Tensor& out, const Op& op);
  /// Called before `storage` is overwritten: steps that show it get a copy of what it holds.
  void keep_values(const StoragePtr& storage);

 private:
  Trace* const outer_;
  std::vector<TraceStep> steps_;
  std::optional<Nudge> nudge_;
  bool nudged_ = false;
};

}  // namespace gradzoo
