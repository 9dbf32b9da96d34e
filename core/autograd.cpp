// The backward pass: collect the graph, order it, and walk it once from the outputs to the leaves.
#include "core/autograd.h"

#include <algorithm>
#include <unordered_map>

#include "core/anomaly.h"
#include "core/create.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/trace.h"

namespace gradzoo {
namespace {

using NodePtr = std::shared_ptr<Node>;

// Every node reachable from the roots, in order of recording: inputs come before their users.
std::vector<NodePtr> collect(const std::vector<NodePtr>& roots,
                             std::unordered_map<const Node*, std::size_t>& index) {
  std::vector<NodePtr> nodes;
  const auto visit = [&](const NodePtr& node) {
    if (node != nullptr && index.emplace(node.get(), 0).second) nodes.push_back(node);
  };
  for (const NodePtr& root : roots) visit(root);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];  // the vector may grow below, the node stays
    for (const NodePtr& input : node.inputs) visit(input);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const NodePtr& a, const NodePtr& b) { return a->sequence < b->sequence; });
  for (std::size_t i = 0; i < nodes.size(); ++i) index[nodes[i].get()] = i;
  return nodes;
}

class BackwardPass {
 public:
  explicit BackwardPass(const std::vector<NodePtr>& roots)
      : nodes_(collect(roots, index_)),
        needed_(nodes_.size()),
        kept_(nodes_.size()),
        pending_(nodes_.size()) {}

  // Marks what lies between the roots and the wanted nodes: each leaf, or those in `targets`.
  void want_leaves() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) needed_[i] = nodes_[i]->is_leaf;
    spread_needed();
  }
  void want(const std::vector<NodePtr>& targets) {
    for (const NodePtr& target : targets) {
      if (const auto it = index_.find(target.get()); it != index_.end()) needed_[it->second] = true;
    }
    kept_ = needed_;
    spread_needed();
  }

  void seed(const NodePtr& root, const Tensor& gradient) { accumulate(root, gradient); }

  // Gradients must not be half done because of a graph that cannot be walked: look first.
  void check_walkable() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = *nodes_[i];
      if (!runs(i)) continue;
      check(!node.released,
            "backward: the graph was released at '{}' by an earlier backward; compute it anew, or "
            "keep it with retain_graph",
            node.op);
      for (const SavedTensor& kept : node.saved) {
        check(kept.value.impl().storage->version() == kept.version,
              "backward of '{}': a value it saved was overwritten after the forward pass "
              "(version {}, saved at {})",
              node.op, kept.value.impl().storage->version(), kept.version);
      }
    }
  }

  // From the newest node to the oldest; a node's gradient is complete when its turn comes, since
  // all its users are newer.
  void run(bool retain_graph) {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!pending_[i].defined() || !runs(i)) continue;
      const Tensor gradient = pending_[i];
      if (!kept_[i]) pending_[i] = Tensor();
      step(nodes_[i], gradient);
      if (retain_graph) continue;
      nodes_[i]->saved.clear();
      nodes_[i]->vjp = nullptr;
      nodes_[i]->released = true;
    }
  }

  Tensor gradient_of(const NodePtr& node) const {
    const auto it = index_.find(node.get());
    return it == index_.end() ? Tensor() : pending_[it->second];
  }

  // Adds what the pass found to the leaves: only now, when nothing can fail any more.
  void keep_leaf_gradients() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = *nodes_[i];
      if (!node.is_leaf || !pending_[i].defined()) continue;
      node.grad = node.grad.defined() ? add(node.grad, pending_[i]) : pending_[i].detach();
    }
  }

 private:
  void spread_needed() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) needed_[i] = needed_[i] || runs(i);
  }

  // A node's vjp is called when one of its inputs is needed.
  bool runs(std::size_t i) const {
    const auto& inputs = nodes_[i]->inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const NodePtr& input) {
      return input != nullptr && needed_[index_.at(input.get())];
    });
  }

  void step(const NodePtr& node, const Tensor& gradient) {
    std::vector<bool> needed(node->inputs.size());
    for (std::size_t k = 0; k < needed.size(); ++k) {
      needed[k] = node->inputs[k] != nullptr && needed_[index_.at(node->inputs[k].get())];
    }
    const Grads grads = call_vjp(node, gradient, needed);
    check(grads.size() == needed.size(), "backward of '{}': {} gradients for {} inputs", node->op,
          grads.size(), needed.size());
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (!needed[k] || !grads[k].defined()) continue;
      const Node& input = *node->inputs[k];
      check(grads[k].shape() == input.shape && grads[k].dtype() == input.dtype,
            "backward of '{}': the gradient of input {} is {} {}, the input {} {}", node->op, k,
            grads[k].dtype(), grads[k].shape(), input.dtype, input.shape);
    }
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (needed[k] && grads[k].defined()) accumulate(node->inputs[k], grads[k]);
    }
  }

  static Grads call_vjp(const NodePtr& node, const Tensor& gradient,
                        const std::vector<bool>& needed) {
    Trace* const trace = modes().trace;
    Grads grads;
    {
      const ModeGuard guard;
      modes().trace = nullptr;  // the step is one line of the trace, not the ops it is made of
      modes().scope = node->scope;
      grads = node->vjp(BackwardContext(node, gradient, needed));
    }
    if (modes().detect_anomaly) check_backward(grads, node->op, gradient);
    if (trace != nullptr) {
      TraceStep step{true, node->op, path_of(node->scope), node->sequence, {}, {}, {}};
      step.inputs.push_back(gradient.detach());
      for (std::size_t k = 0; k < grads.size(); ++k) {
        step.input_nodes.push_back(node->inputs[k] ? node->inputs[k]->sequence : 0);
        step.outputs.push_back(grads[k].defined() ? grads[k].detach() : Tensor());
      }
      trace->add(std::move(step));
    }
    return grads;
  }

  void accumulate(const NodePtr& node, const Tensor& gradient) {
    Tensor& sum = pending_[index_.at(node.get())];
    if (!sum.defined()) {
      sum = gradient;
      return;
    }
    const Tensor before = sum;
    Trace* const trace = modes().trace;
    {
      const ModeGuard guard;
      modes().trace = nullptr;
      sum = add(before, gradient);
    }
    if (trace == nullptr) return;
    trace->add({true,
                "accumulate",
                path_of(node->scope),
                node->sequence,
                {},
                {before.detach(), gradient.detach()},
                {sum.detach()}});
  }

  std::unordered_map<const Node*, std::size_t> index_;
  std::vector<NodePtr> nodes_;
  std::vector<bool> needed_;
  std::vector<bool> kept_;  // the targets of want(): their gradients outlive their step
  std::vector<Tensor> pending_;
};

Tensor first_gradient(const Tensor& output, const Tensor& given) {
  check(output.requires_grad(),
        "backward: the tensor does not depend on anything that requires a gradient");
  if (!given.defined()) {
    check(output.numel() == 1,
          "backward: a gradient is needed to start from a tensor of shape {}; only one element "
          "needs none",
          output.shape());
    return ones(output.shape(), output.dtype());
  }
  check(given.shape() == output.shape() && given.dtype() == output.dtype(),
        "backward: the gradient is {} {}, the output {} {}", given.dtype(), given.shape(),
        output.dtype(), output.shape());
  return given;
}

}  // namespace

void Tensor::backward() const { backward(Tensor()); }

void Tensor::backward(const Tensor& gradient) const {
  const Tensor start = first_gradient(*this, gradient);
  const NoGrad no_grad;
  BackwardPass pass({node()});
  pass.want_leaves();
  pass.check_walkable();
  pass.seed(node(), start);
  pass.run(false);
  pass.keep_leaf_gradients();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  check(options.grad_outputs.empty() || options.grad_outputs.size() == outputs.size(),
        "grad: {} grad_outputs for {} outputs", options.grad_outputs.size(), outputs.size());
  std::vector<NodePtr> roots, targets;
  std::vector<Tensor> starts;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    starts.push_back(first_gradient(
        outputs[i], options.grad_outputs.empty() ? Tensor() : options.grad_outputs[i]));
    roots.push_back(outputs[i].node());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].requires_grad(), "grad: input {} does not require a gradient", i);
    targets.push_back(inputs[i].node());
  }
  const ModeGuard guard;
  modes().grad_enabled = options.create_graph;
  BackwardPass pass(roots);
  pass.want(targets);
  pass.check_walkable();
  for (std::size_t i = 0; i < roots.size(); ++i) pass.seed(roots[i], starts[i]);
  pass.run(options.create_graph || options.retain_graph);
  std::vector<Tensor> grads;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    grads.push_back(pass.gradient_of(targets[i]));
    check(grads.back().defined() || options.allow_unused,
          "grad: the outputs do not depend on input {}; allow_unused gives an undefined gradient",
          i);
  }
  return grads;
}

std::vector<std::shared_ptr<Node>> graph_nodes(const std::vector<Tensor>& outputs) {
  std::vector<NodePtr> roots;
  for (const Tensor& output : outputs) roots.push_back(output.node());
  std::unordered_map<const Node*, std::size_t> index;
  return collect(roots, index);
}

}  // namespace gradzoo
