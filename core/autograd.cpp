// The backward pass: collect the graph in order, and walk it once from the outputs to the leaves.
#include "core/autograd.h"

#include <algorithm>
#include <utility>

#include "core/anomaly.h"
#include "core/create.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/view.h"
#include "core/trace.h"

namespace gradzoo {
namespace {

using NodePtr = std::shared_ptr<Node>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The nodes some roots were computed from, the newest first, so that users come before their
// inputs. Edges are positions in `nodes`, node by node, in the order of the nodes' inputs.
struct Graph {
  std::vector<NodePtr> nodes;
  std::vector<std::size_t> first_edge;
  std::vector<std::size_t> edges;  // kNone where no gradient is needed
};

// A heap gives the nodes by age. One that is reached by several edges comes out several times in
// a row, so no table of visited nodes is needed, and each edge learns the position as it comes.
Graph collect(const std::vector<NodePtr>& roots) {
  struct Reached {
    const NodePtr* node;
    std::size_t edge;
  };
  const auto older = [](const Reached& a, const Reached& b) {
    return (*a.node)->sequence < (*b.node)->sequence;
  };
  std::vector<Reached> heap;
  const auto reach = [&](const NodePtr& node, std::size_t edge) {
    if (node == nullptr) return;
    heap.push_back({&node, edge});
    std::push_heap(heap.begin(), heap.end(), older);
  };
  Graph graph;
  for (const NodePtr& root : roots) reach(root, kNone);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), older);
    const auto [node, edge] = heap.back();
    heap.pop_back();
    if (graph.nodes.empty() || graph.nodes.back() != *node) {
      graph.nodes.push_back(*node);
      graph.first_edge.push_back(graph.edges.size());
      for (const NodePtr& input : (*node)->inputs) {
        graph.edges.push_back(kNone);
        reach(input, graph.edges.size() - 1);
      }
    }
    if (edge != kNone) graph.edges[edge] = graph.nodes.size() - 1;
  }
  return graph;
}

class BackwardPass {
 public:
  explicit BackwardPass(const std::vector<NodePtr>& roots)
      : graph_(collect(roots)),
        nodes_(graph_.nodes),
        needed_(nodes_.size()),
        runs_(nodes_.size()),
        kept_(nodes_.size()),
        pending_(nodes_.size()) {}

  // Marks what lies between the roots and the wanted nodes: each leaf, or those in `targets`.
  void want_leaves() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) needed_[i] = nodes_[i]->is_leaf;
    spread_needed();
  }
  void want(const std::vector<NodePtr>& targets) {
    for (const NodePtr& target : targets) {
      if (const std::size_t i = position(target); i != kNone) needed_[i] = true;
    }
    kept_ = needed_;
    spread_needed();
  }

  void seed(const NodePtr& root, const Tensor& gradient) {
    const ModeGuard guard;
    modes().trace = nullptr;
    accumulate(position(root), gradient);
  }

  // Gradients must not be half done because of a graph that cannot be walked: look first.
  void check_walkable() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = *nodes_[i];
      if (!runs_[i]) continue;
      check(!node.released,
            "backward: the graph was released at '{}' by an earlier backward; compute it anew, or "
            "keep it with retain_graph",
            node.op.name);
      for (std::size_t k = 0; k < node.saved.size(); ++k) node.check_saved(k);
    }
  }

  // A node's gradient is complete when its turn comes, since all its users are newer.
  void run(bool retain_graph) {
    const ModeGuard guard;
    // A vjp is one step of the trace and is judged as a whole, not by the ops it is made of.
    modes().trace = nullptr;
    modes().detect_anomaly = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!pending_[i].defined() || !runs_[i]) continue;
      const Tensor gradient = kept_[i] ? pending_[i] : std::exchange(pending_[i], Tensor());
      step(i, gradient);
      if (retain_graph) continue;
      nodes_[i]->saved.clear();
      nodes_[i]->vjp = nullptr;
      nodes_[i]->released = true;
    }
  }

  Tensor gradient_of(const NodePtr& node) const {
    const std::size_t i = position(node);
    return i == kNone ? Tensor() : pending_[i];
  }

  // Adds what the pass found to the leaves: only now, when nothing can fail any more.
  void keep_leaf_gradients() {
    const ModeGuard guard;
    modes().trace = nullptr;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = *nodes_[i];
      if (!node.is_leaf || !pending_[i].defined()) continue;
      const Tensor before = node.grad;
      const Tensor found = std::exchange(pending_[i], Tensor());
      node.grad = before.defined() ? add(before, found) : owned(found);
      trace_sum(node, before, found, node.grad);
    }
  }

 private:
  // Where a node is, by its age; kNone if the roots do not depend on it.
  std::size_t position(const NodePtr& node) const {
    const auto it = std::lower_bound(
        nodes_.begin(), nodes_.end(), node,
        [](const NodePtr& a, const NodePtr& b) { return a->sequence > b->sequence; });
    return it != nodes_.end() && *it == node ? static_cast<std::size_t>(it - nodes_.begin())
                                             : kNone;
  }

  std::size_t input_of(std::size_t i, std::size_t k) const {
    return graph_.edges[graph_.first_edge[i] + k];
  }

  // A node's vjp runs when one of its inputs is needed, and then the node itself is.
  void spread_needed() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      for (std::size_t k = 0; k < nodes_[i]->inputs.size(); ++k) {
        const std::size_t input = input_of(i, k);
        if (input != kNone && needed_[input]) runs_[i] = true;
      }
      if (runs_[i]) needed_[i] = true;
    }
  }

  void step(std::size_t i, const Tensor& gradient) {
    const NodePtr& node = nodes_[i];
    std::vector<bool> needed(node->inputs.size());
    for (std::size_t k = 0; k < needed.size(); ++k) {
      needed[k] = input_of(i, k) != kNone && needed_[input_of(i, k)];
    }
    modes().scope = node->scope;
    Grads grads = node->vjp(BackwardContext(node, gradient, needed));
    check(grads.size() == needed.size(), "backward of '{}': {} gradients for {} inputs",
          node->op.name, grads.size(), needed.size());
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (!needed[k]) grads[k] = Tensor();  // a fused op may give more than it was asked for
      if (!grads[k].defined()) continue;
      const Node& input = *node->inputs[k];
      check(grads[k].shape() == input.shape && grads[k].dtype() == input.dtype,
            "backward of '{}': the gradient of input {} is {} {}, the input {} {}", node->op.name,
            k, grads[k].dtype(), grads[k].shape(), input.dtype, input.shape);
    }
    if (detect_anomaly_) check_backward(grads, node->op.name, gradient);
    trace_step(*node, gradient, grads);
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (grads[k].defined()) accumulate(input_of(i, k), grads[k]);
    }
  }

  void accumulate(std::size_t i, const Tensor& gradient) {
    Tensor& sum = pending_[i];
    if (!sum.defined()) {
      sum = gradient;
      return;
    }
    const Tensor before = std::exchange(sum, add(sum, gradient));
    trace_sum(*nodes_[i], before, gradient, sum);
  }

  // A gradient that the leaf can keep: one whose memory is nobody else's, since it may be
  // overwritten in place (clipping), and which is not spread out.
  static Tensor owned(const Tensor& gradient) {
    const bool alone =
        gradient.impl_ptr().use_count() == 1 && gradient.impl().storage.use_count() == 1;
    return alone && gradient.is_contiguous() ? gradient.detach() : clone(gradient);
  }

  void trace_step(const Node& node, const Tensor& gradient, const Grads& grads) const {
    if (trace_ == nullptr) return;
    TraceStep step{true, node.op, node.scope, node.sequence, {}, {}, {}};
    step.inputs.push_back(gradient.detach());
    for (std::size_t k = 0; k < grads.size(); ++k) {
      step.input_nodes.push_back(node.inputs[k] ? node.inputs[k]->sequence : 0);
      step.outputs.push_back(grads[k].defined() ? grads[k].detach() : Tensor());
    }
    trace_->add(std::move(step));
  }

  // What was there (nothing, for the first gradient of a leaf), what is added, and the sum.
  void trace_sum(const Node& node, const Tensor& before, const Tensor& added,
                 const Tensor& sum) const {
    if (trace_ == nullptr) return;
    TraceStep step{true, "accumulate", node.scope, node.sequence, {}, {}, {}};
    if (before.defined()) step.inputs.push_back(before.detach());
    step.inputs.push_back(added.detach());
    step.outputs.push_back(sum.detach());
    trace_->add(std::move(step));
  }

  const Graph graph_;
  const std::vector<NodePtr>& nodes_;
  std::vector<char> needed_;  // its gradient is worth computing
  std::vector<char> runs_;    // its vjp will be called
  std::vector<char> kept_;    // the targets of want(): their gradients outlive their step
  std::vector<Tensor> pending_;
  Trace* const trace_ = modes().trace;
  const bool detect_anomaly_ = modes().detect_anomaly;
};

Tensor first_gradient(const char* name, const Tensor& output, const Tensor& given) {
  check(output.requires_grad(),
        "{}: the tensor does not depend on anything that requires a gradient", name);
  if (!given.defined()) {
    check(output.numel() == 1,
          "{}: a gradient is needed to start from a tensor of shape {}; only one element needs "
          "none",
          name, output.shape());
    return ones(output.shape(), output.dtype());
  }
  check(given.shape() == output.shape() && given.dtype() == output.dtype(),
        "{}: the gradient is {} {}, the output {} {}", name, given.dtype(), given.shape(),
        output.dtype(), output.shape());
  return given;
}

}  // namespace

void Tensor::backward() const { backward(Tensor()); }

void Tensor::backward(const Tensor& gradient) const {
  const Tensor start = first_gradient("backward", *this, gradient);
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
    const bool given = !options.grad_outputs.empty();
    starts.push_back(
        first_gradient("grad", outputs[i], given ? options.grad_outputs[i] : Tensor()));
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
  std::vector<NodePtr> nodes = collect(roots).nodes;
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace gradzoo
