// Recording an op, and taking a graph apart again.
#include "core/node.h"

#include <atomic>

#include "core/anomaly.h"
#include "core/trace.h"

namespace gradzoo {
namespace {

std::uint64_t next_sequence() {
  static std::atomic<std::uint64_t> counter{0};
  return ++counter;
}

SavedTensor save(const Tensor& value, const Tensor& out) {
  if (!value.defined()) return {};
  const bool is_output = value.impl_ptr() == out.impl_ptr();
  return {is_output ? value.detach() : value, value.impl().storage->version(), is_output};
}

std::shared_ptr<Node> node_of(const Tensor& tensor) {
  return tensor.defined() ? tensor.node() : nullptr;
}

void trace_forward(const Tensor& out, const Op& op, std::span<const Tensor> inputs) {
  TraceStep step;
  step.op = op;
  step.scope = modes().scope;
  step.node = out.node() ? out.node()->sequence : 0;
  for (const Tensor& input : inputs) {
    step.input_nodes.push_back(node_of(input) ? input.node()->sequence : 0);
    step.inputs.push_back(input.defined() ? input.detach() : Tensor());
  }
  step.outputs.push_back(out.detach());
  modes().trace->add(std::move(step));
}

}  // namespace

Node::~Node() {
  // What this node points at goes on the list of the outermost destructor, which lets go of one
  // after the other. The list dies with it: a static tensor may outlive thread-local objects.
  thread_local std::vector<std::shared_ptr<Node>>* doomed = nullptr;
  std::vector<std::shared_ptr<Node>> list;
  const bool outermost = doomed == nullptr;
  if (outermost) doomed = &list;
  for (auto& input : inputs) doomed->push_back(std::move(input));
  for (const SavedTensor& kept : saved) doomed->push_back(node_of(kept.value));
  saved.clear();
  if (!outermost) return;
  while (!list.empty()) {
    const std::shared_ptr<Node> next = std::move(list.back());
    list.pop_back();
  }
  doomed = nullptr;
}

void Node::check_saved(std::size_t i) const {
  const SavedTensor& kept = saved[i];
  if (!kept.value.defined()) return;
  const std::uint64_t version = kept.value.impl().storage->version();
  check(version == kept.version,
        "backward of '{}': a value it saved was overwritten after the forward pass (version {}, "
        "saved at {})",
        op.name, version, kept.version);
}

Tensor BackwardContext::saved(std::size_t i) const {
  node_->check_saved(i);
  const SavedTensor& kept = node_->saved[i];
  if (!kept.is_output || !modes().grad_enabled) return kept.value;
  Tensor output = kept.value.detach();
  output.impl().node = node_;
  return output;
}

Tensor record(const Tensor& out, const Op& op, std::span<const Tensor> inputs,
              std::span<const Tensor> saved, Vjp vjp) {
  bool wanted = false;
  for (const Tensor& input : inputs) wanted = wanted || input.requires_grad();
  if (wanted && modes().grad_enabled && is_floating(out.dtype())) {
    auto node = std::make_shared<Node>();
    node->op = op;
    node->sequence = next_sequence();
    node->inputs.reserve(inputs.size());
    for (const Tensor& input : inputs) node->inputs.push_back(node_of(input));
    node->saved.reserve(saved.size());
    for (const Tensor& value : saved) node->saved.push_back(save(value, out));
    node->vjp = std::move(vjp);
    node->shape = out.shape();
    node->dtype = out.dtype();
    node->output = out.impl_ptr();
    node->scope = modes().scope;
    out.impl().node = std::move(node);
  }
  if (modes().trace != nullptr) {
    modes().trace->nudge(out, op);  // after saving: backward shall see what the op computed
    trace_forward(out, op, inputs);
  }
  if (modes().detect_anomaly) check_forward(out, op.name, inputs);
  return out;
}

Tensor record(const Tensor& out, const Op& op, std::initializer_list<Tensor> inputs,
              std::initializer_list<Tensor> saved, Vjp vjp) {
  return record(out, op, std::span(inputs.begin(), inputs.size()),
                std::span(saved.begin(), saved.size()), std::move(vjp));
}

Vjp no_gradient(const char* op) {
  return [op](const BackwardContext&) -> Grads {
    fail("backward of '{}': this op has no gradient; detach() its input if that is meant", op);
  };
}

std::shared_ptr<Node> make_leaf(const std::shared_ptr<TensorImpl>& impl) {
  auto node = std::make_shared<Node>();
  node->op = "leaf";
  node->sequence = next_sequence();
  node->shape = impl->shape;
  node->dtype = impl->dtype;
  node->output = impl;
  node->is_leaf = true;
  node->scope = modes().scope;
  return node;
}

}  // namespace gradzoo
