// Reads a trace once: forward steps make nodes, backward steps tell what flows into them.
#include "examples/common/walk/from_trace.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "examples/common/walk/numbers.h"

namespace gradzoo::examples {
namespace {

// Where a tensor's numbers lie: two with one place are the same values.
using Place = std::tuple<const Storage*, std::int64_t, std::vector<std::int64_t>,
                         std::vector<std::int64_t>, DType>;

Place place_of(const Tensor& x) {
  const TensorImpl& impl = x.impl();
  return {impl.storage.get(),
          impl.offset,
          {impl.shape.begin(), impl.shape.end()},
          {impl.strides.begin(), impl.strides.end()},
          impl.dtype};
}

class GraphBuilder {
 public:
  GraphBuilder(Walk& walk, const std::string& title, const Names& names) : walk_(walk) {
    graph_ = walk.graphs.size();
    walk.graphs.push_back({title, walk.nodes.size(), walk.nodes.size(), 0, ""});
    for (const auto& [name, tensor] : names) {
      if (!tensor.defined()) continue;
      names_.emplace(place_of(tensor), name);
      if (tensor.requires_grad()) leaf_names_.emplace(tensor.node()->sequence, name);
    }
  }

  void forward(const TraceStep& step, std::size_t position) {
    WalkNode node;
    node.graph = graph_;
    node.op = step.op;
    node.scope = scope_of(step.scope);
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      node.inputs.push_back(input_of(step.inputs[k], step.input_nodes[k]));
    }
    add(std::move(node), step.outputs[0], {step.node, position});
    walk_.steps.push_back(step_at(WalkStep::Kind::forward, walk_.nodes.size() - 1));
  }

  // `sum` is the step that follows where a gradient meets another.
  void backward(const std::vector<TraceStep>& steps, std::size_t& position) {
    const TraceStep& step = steps[position++];
    const std::size_t node = by_sequence_.at(step.node);
    if (!walk_.nodes[node].gradient.defined()) {  // the output, where backward starts
      walk_.nodes[node].gradient = copy_of(step.inputs[0]);
    }
    WalkStep its = step_at(WalkStep::Kind::backward, node);
    for (std::size_t k = 0; k < step.outputs.size(); ++k) {
      if (!step.outputs[k].defined()) continue;
      WalkUse use;
      use.input = k;
      use.node = by_sequence_.at(step.input_nodes[k]);
      WalkNode& input = walk_.nodes[use.node];
      use.use = ++input.uses;
      use.before = input.gradient;
      use.added = copy_of(step.outputs[k]);
      use.after = use.before.defined() ? copy_of(steps[position++].outputs[0]) : use.added;
      input.gradient = use.after;
      its.uses.push_back(std::move(use));
    }
    walk_.steps.push_back(std::move(its));
  }

  std::vector<Origin> finish(std::uint64_t output, std::size_t first_step) {
    WalkGraph& graph = walk_.graphs[graph_];
    graph.last = walk_.nodes.size();
    graph.output = by_sequence_.at(output);
    for (std::size_t i = first_step; i < walk_.steps.size(); ++i) {
      for (WalkUse& use : walk_.steps[i].uses) use.uses = walk_.nodes[use.node].uses;
    }
    place_leaves();
    return std::move(origins_);
  }

 private:
  WalkStep step_at(WalkStep::Kind kind, std::size_t node) const {
    WalkStep step;
    step.kind = kind;
    step.graph = graph_;
    step.node = node;
    return step;
  }

  std::size_t add(WalkNode node, const Tensor& value, const Origin& origin) {
    const std::size_t position = walk_.nodes.size();
    node.value = copy_of(value);
    if (origin.sequence != 0) by_sequence_[origin.sequence] = position;
    by_place_[place_of(value)] = position;
    walk_.nodes.push_back(std::move(node));
    origins_.push_back(origin);
    return position;
  }

  std::size_t input_of(const Tensor& value, std::uint64_t sequence) {
    if (!value.defined()) return kNone;
    if (sequence != 0) {
      const auto it = by_sequence_.find(sequence);
      if (it != by_sequence_.end()) return it->second;
    } else if (const auto it = by_place_.find(place_of(value)); it != by_place_.end()) {
      return it->second;
    }
    WalkNode node;
    node.graph = graph_;
    node.kind = sequence != 0 ? WalkNode::Kind::leaf : WalkNode::Kind::constant;
    node.op = sequence != 0 ? "leaf" : "constant";
    node.name = name_of(value, sequence);
    return add(std::move(node), value, {sequence, kNone});
  }

  // A leaf goes by its node: another tensor may lie in the same memory.
  std::string name_of(const Tensor& value, std::uint64_t sequence) const {
    if (const auto it = leaf_names_.find(sequence); it != leaf_names_.end()) return it->second;
    const auto it = names_.find(place_of(value));
    return sequence == 0 && it != names_.end() ? it->second : "";
  }

  std::size_t scope_of(const ScopePtr& scope) {
    if (scope == nullptr) return kNone;
    if (const auto it = scopes_.find(scope.get()); it != scopes_.end()) return it->second;
    const std::size_t parent = scope_of(scope->parent);
    walk_.scopes.push_back({scope->name, parent});
    return scopes_[scope.get()] = walk_.scopes.size() - 1;
  }

  std::vector<std::size_t> with_parents(std::size_t scope) const {
    std::vector<std::size_t> chain;  // the outermost first
    for (; scope != kNone; scope = walk_.scopes[scope].parent) chain.insert(chain.begin(), scope);
    return chain;
  }

  // Leaves and constants go where their users are.
  void place_leaves() {
    std::unordered_map<std::size_t, std::vector<std::size_t>> common;
    const WalkGraph& graph = walk_.graphs[graph_];
    for (std::size_t i = graph.first; i < graph.last; ++i) {
      const std::vector<std::size_t> chain = with_parents(walk_.nodes[i].scope);
      for (const std::size_t input : walk_.nodes[i].inputs) {
        if (input == kNone || walk_.nodes[input].kind == WalkNode::Kind::op) continue;
        const auto [it, is_first] = common.emplace(input, chain);
        if (is_first) continue;
        std::vector<std::size_t>& shared = it->second;
        std::size_t equal = 0;
        while (equal < std::min(shared.size(), chain.size()) && shared[equal] == chain[equal]) {
          ++equal;
        }
        shared.resize(equal);
      }
    }
    for (const auto& [position, chain] : common) {
      WalkNode& node = walk_.nodes[position];
      const bool outside = !node.name.empty() && node.name.find('.') == std::string::npos;
      node.scope = outside || chain.empty() ? kNone : chain.back();
    }
  }

  Walk& walk_;
  std::size_t graph_;
  std::map<Place, std::string> names_;
  std::unordered_map<std::uint64_t, std::string> leaf_names_;
  std::map<Place, std::size_t> by_place_;
  std::unordered_map<std::uint64_t, std::size_t> by_sequence_;
  std::unordered_map<const ScopeName*, std::size_t> scopes_;
  std::vector<Origin> origins_;
};

}  // namespace

std::vector<Origin> add_graph(Walk& walk, const std::string& title, const Names& names,
                              const std::vector<TraceStep>& steps, std::uint64_t output) {
  const std::size_t first_step = walk.steps.size();
  GraphBuilder builder(walk, title, names);
  std::size_t position = 0;
  for (; position < steps.size() && !steps[position].backward; ++position) {
    builder.forward(steps[position], position);
  }
  while (position < steps.size()) {
    // What is left of these are the sums that leaves keep.
    if (steps[position].op.name == std::string_view("accumulate")) {
      ++position;
    } else {
      builder.backward(steps, position);
    }
  }
  return builder.finish(output, first_step);
}

}  // namespace gradzoo::examples
