// A computation taken apart: every op forward and backward, in order, with its numbers, its rule
// and central differences beside them. It is made from the engine's own record, never from a
// script; programs show it as text, on a terminal, and as a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/node.h"
#include "core/tensor.h"

namespace gradzoo::examples {

/// "Not there": an argument that was left out, a scope that has none around it.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A named scope that was open for a while; the same name opened twice is two of them.
struct WalkScope {
  std::string name;
  std::size_t parent = kNone;  ///< position in Walk::scopes
};

/// Gradients up to this are 0 but for rounding, and so are their differences: gradcheck's atol.
inline constexpr double kTiny = 1e-7;
/// A difference has about ten decimals, in f32 four: so of gradients below this the relative error
/// says little.
inline double small_gradient(DType dtype) { return dtype == DType::f32 ? 0.1 : 1e-4; }

/// One element of a gradient, from backward and as a central difference of the whole function.
struct Difference {
  std::int64_t element = 0;  ///< position in the flattened tensor
  double analytic = 0, numeric = 0;
  double relative = 0;  ///< |analytic - numeric| / max(|analytic|, |numeric|), 0 for two zeros
  bool right = true;    ///< by gradcheck's rule for the dtype
};

/// One value of the computation: a leaf, a constant, or what an op put out.
struct WalkNode {
  enum class Kind { leaf, constant, op };
  Kind kind = Kind::op;
  std::size_t graph = 0;            ///< which function it belongs to: position in Walk::graphs
  std::string name;                 ///< given by the lesson ("w", "encoder.0.weight"), often empty
  Op op;                            ///< with its rule; "leaf" and "constant" have none
  std::size_t scope = kNone;        ///< innermost, position in Walk::scopes
  std::vector<std::size_t> inputs;  ///< positions in Walk::nodes, kNone for a missing one
  Tensor value;
  Tensor gradient;       ///< complete; undefined where none flows
  std::size_t uses = 0;  ///< how many gradients are added up in it
  /// Central differences of the complete gradient, at most six elements of it; empty for a node
  /// without gradient and for a leaf that the function made itself.
  std::vector<Difference> differences;
  /// Per input and cell of the (flattened) value: the cells of that input it was made from. Empty
  /// when the tensors are too large, or for an input without gradient.
  std::vector<std::vector<std::vector<std::int32_t>>> sources;
};

/// What a backward step adds to the gradient of one of its inputs.
struct WalkUse {
  std::size_t input = 0;          ///< which argument of the op
  std::size_t node = 0;           ///< the node of that input
  std::size_t use = 1, uses = 1;  ///< "use 2 of 2"
  Tensor before;                  ///< undefined at the first use
  Tensor added;
  Tensor after;
};

/// Numbers under a text: the first column may be words.
struct WalkTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;  ///< as many cells as heads
};

/// Where a learner can stand.
struct WalkStep {
  enum class Kind { note, forward, backward, update };
  Kind kind = Kind::note;
  std::size_t graph = kNone;  ///< of forward and backward
  std::size_t node = kNone;   ///< of forward and backward: the op; its dy is the node's gradient
  std::vector<WalkUse> uses;  ///< of backward: one for each input that gets a gradient
  std::string title, text;    ///< of notes and updates; text is paragraphs, not yet broken in lines
  WalkTable table;            ///< of notes, may be empty
  /// Of an update: what changed, by name; undefined gradient where there was none.
  struct Change {
    std::string name;
    Tensor before, gradient, after;
  };
  std::vector<Change> changes;
};

/// One function: its nodes are a range of Walk::nodes.
struct WalkGraph {
  std::string title;
  std::size_t first = 0, last = 0;  ///< nodes first to last - 1, inputs before their users
  std::size_t output = 0;           ///< the node backward started from
  std::string dot;                  ///< core's graph_dot of it, with values and gradients
};

struct Walk {
  std::string title;
  std::vector<WalkScope> scopes;
  std::vector<WalkNode> nodes;
  std::vector<WalkGraph> graphs;
  std::vector<WalkStep> steps;  ///< in the order of a lesson; backward after forward

  /// "Transformer/EncoderLayer" of a node, "" outside every scope.
  std::string path(std::size_t node) const;
  /// "%7" or its name: how a node is called in texts; numbers count from 1 in each graph.
  std::string label(std::size_t node) const;
  /// The nodes whose gradient is complete once this step is done: what its differences are about.
  std::vector<std::size_t> completed(const WalkStep& step) const;
};

/// What the k-th input is called in the op's rule: "x", "x3" for the third of "x...", and
/// "input 2" where the op has no rule.
std::string argument_name(const Op& op, std::size_t k);

/// The central differences of what one step completes, taken together.
struct StepCheck {
  std::size_t differences = 0;     ///< how many numbers were compared
  std::optional<double> relative;  ///< the largest error; small gradients have none
  bool right = true;
};
StepCheck check_step(const Walk& walk, std::size_t step);

/// All central differences of a walk taken together.
struct WalkCheck {
  std::size_t steps = 0;           ///< backward steps that complete a gradient with differences
  std::size_t differences = 0;     ///< how many numbers were compared at them
  std::size_t worst = kNone;       ///< the step with the largest relative error
  double relative = 0;             ///< that error; small gradients do not count
  std::vector<std::size_t> wrong;  ///< positions in Walk::steps
};
WalkCheck check_walk(const Walk& walk);

}  // namespace gradzoo::examples
