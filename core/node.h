// The recorded graph: what an op leaves behind for backward, and `record`, by which it does so.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "core/scope.h"
#include "core/tensor.h"

namespace gradzoo {

class BackwardContext;

/// What an op is called, and its rule in words for those who read along: y is the result, dy the
/// gradient of y. All strings have static lifetime; an op without a rule is just its name.
struct Op {
  const char* name = "";
  const char* arguments = "";  ///< what the rule calls the inputs, in order: "x, w, b"; "x..."
                               ///< for any number of them
  const char* forward = "";    ///< "y = x w^T + b"
  const char* backward = "";   ///< "dx = dy w; dw = dy^T x; db = sum of dy"

  constexpr Op() = default;
  constexpr Op(const char* its_name) : name(its_name) {}  // NOLINT: a name is an op
  constexpr Op(const char* its_name, const char* its_arguments, const char* its_forward,
               const char* its_backward)
      : name(its_name), arguments(its_arguments), forward(its_forward), backward(its_backward) {}
};

/// One gradient per input, in order; undefined for an input that does not need one.
using Grads = std::vector<Tensor>;

/// The vector-Jacobian product of an op: from the gradient of its output to those of its inputs,
/// written in Tensor ops, so that gradients of gradients need no code of their own. It must not
/// capture tensors: what it needs is saved in the node.
using Vjp = std::function<Grads(const BackwardContext&)>;

/// A value kept for backward, with the version of its memory at that time. The op's own output is
/// kept without its history, so that the graph has no cycle.
struct SavedTensor {
  Tensor value;
  std::uint64_t version = 0;
  bool is_output = false;
};

/// One op that was run (or one leaf). Edges point to the nodes of the inputs.
struct Node {
  Op op;                       ///< of a leaf "leaf"
  std::uint64_t sequence = 0;  ///< order of recording: an input always has a smaller one
  std::vector<std::shared_ptr<Node>> inputs;  ///< null where no gradient is needed
  std::vector<SavedTensor> saved;
  Vjp vjp;
  Shape shape;                       ///< of the output
  DType dtype = DType::f32;          ///< of the output
  std::weak_ptr<TensorImpl> output;  ///< to look at while it lives
  ScopePtr scope;                    ///< the named scopes open when the op ran
  Tensor grad;                       ///< of a leaf
  bool is_leaf = false;
  bool released = false;  ///< backward has been here and let go of `saved`

  /// Throws when the i-th saved value was overwritten since, naming the op.
  void check_saved(std::size_t i) const;

  ~Node();  ///< iterative: a chain of a million nodes needs no deep stack
};

/// What a vjp sees: the gradient of the output, the saved values, and which inputs need theirs.
class BackwardContext {
 public:
  BackwardContext(const std::shared_ptr<Node>& node, const Tensor& gradient,
                  const std::vector<bool>& needed)
      : grad(gradient), node_(node), needed_(needed) {}

  const Tensor& grad;
  /// The i-th saved value. Throws when it was overwritten since, naming the op.
  Tensor saved(std::size_t i) const;
  bool needs(std::size_t input) const { return needed_[input]; }
  /// Shape of an input that needs a gradient.
  const Shape& shape(std::size_t input) const { return node_->inputs[input]->shape; }

 private:
  const std::shared_ptr<Node>& node_;
  const std::vector<bool>& needed_;
};

/// Gives `out`, just computed by `op`, its history: its inputs, the values backward will need and
/// its vjp. Without effect on gradients under NoGrad and when no input needs one. Every op ends
/// in a call of this, its rule beside its vjp; it is also where Trace and DetectAnomaly look on. An
/// optional input that is not there may be undefined, among the saved values too. Returns `out`.
Tensor record(const Tensor& out, const Op& op, std::span<const Tensor> inputs,
              std::span<const Tensor> saved, Vjp vjp);
Tensor record(const Tensor& out, const Op& op, std::initializer_list<Tensor> inputs,
              std::initializer_list<Tensor> saved, Vjp vjp);

/// The vjp of an op that has no gradient by nature: throws when it is asked for one.
Vjp no_gradient(const char* op);

/// A new leaf node for a tensor of this shape.
std::shared_ptr<Node> make_leaf(const std::shared_ptr<TensorImpl>& impl);

}  // namespace gradzoo
