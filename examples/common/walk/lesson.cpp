// Notes, functions and updates become steps of a walk.
#include "examples/common/walk/lesson.h"

#include <unordered_map>
#include <unordered_set>

#include "core/autograd.h"
#include "core/create.h"
#include "core/graph.h"
#include "examples/common/walk/differences.h"
#include "examples/common/walk/numbers.h"
#include "examples/common/walk/sources.h"

namespace gradzoo::examples {
namespace {

// What the engine leaves behind of one run, forward and backward.
struct TracedRun {
  Tensor result;
  std::vector<TraceStep> steps;
  std::unordered_map<std::uint64_t, std::shared_ptr<Node>> nodes;  // by sequence
  std::unordered_map<std::uint64_t, Sources> sources;
  std::string dot;
};

void check_result(const Tensor& result) {
  check(result.defined() && result.numel() == 1 && is_floating(result.dtype()),
        "walk: the function must return one number of f32 or f64, not {}",
        result.defined() ? fmt::format("{} {}", result.dtype(), result.shape())
                         : "an undefined tensor");
  check(result.requires_grad() && !result.is_leaf(),
        "walk: the result is computed from no tensor with requires_grad_(), so there is nothing to "
        "walk back to");
}

// Every op that the result was computed from must be among the steps.
void check_recorded(const TracedRun& run) {
  std::unordered_set<std::uint64_t> recorded;
  for (const TraceStep& step : run.steps) {
    check(!step.backward,
          "walk: the function must not call backward() or grad() itself ('{}'): return the number "
          "that gradients are wanted of",
          step.op.name);
    recorded.insert(step.node);
  }
  for (const auto& [sequence, node] : run.nodes) {
    check(node->is_leaf || recorded.contains(sequence),
          "walk: the function uses what '{}' computed before it began: compute that inside, or "
          "detach() it",
          node->op.name);
  }
}

TracedRun run_traced(const Names& names, const std::function<Tensor()>& function) {
  TracedRun run;
  const Trace trace;
  run.result = function();
  check_result(run.result);
  for (const std::shared_ptr<Node>& node : graph_nodes({run.result})) {
    run.nodes[node->sequence] = node;
    run.sources[node->sequence] = sources_of(node);
  }
  run.steps = trace.steps();
  check_recorded(run);
  run.result.backward();
  run.steps = trace.steps();
  run.dot = graph_dot(run.result, {.trace = &trace, .names = names});
  return run;
}

// What the node with this sequence is called; "" without a name.
std::string name_of(std::uint64_t sequence, const Names& names) {
  for (const auto& [name, tensor] : names) {
    if (tensor.requires_grad() && tensor.node()->sequence == sequence) return name;
  }
  return "";
}

// The sequence of a node that is newer than all before it.
std::uint64_t newest_sequence() { return scalar(0).requires_grad_().node()->sequence; }

}  // namespace

Lesson::Lesson(std::string title, std::uint64_t seed) : rng_(seed) {
  walk_.title = std::move(title);
}

void Lesson::say(const std::string& title, const std::string& text, const WalkTable& table) {
  for (const std::vector<std::string>& row : table.rows) {
    check(row.size() == table.heads.size(), "say: a row has {} cells, the table '{}' has {} heads",
          row.size(), title, table.heads.size());
  }
  WalkStep step;
  step.title = title;
  step.text = text;
  step.table = table;
  walk_.steps.push_back(std::move(step));
}

Tensor Lesson::name(const std::string& name, const Tensor& x) {
  if (recording_) called_.emplace_back(name, x);
  return x;
}

Tensor Lesson::walk(const std::string& title, const Names& names,
                    const std::function<Tensor()>& function) {
  const std::uint64_t before = newest_sequence();
  called_ = names;
  recording_ = true;
  TracedRun run = run_traced(called_, function);
  recording_ = false;
  const std::vector<Origin> origins =
      add_graph(walk_, title, names, run.steps, run.result.node()->sequence);
  WalkGraph& graph = walk_.graphs.back();
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (walk_.nodes[graph.first + i].kind == WalkNode::Kind::op) {
      walk_.nodes[graph.first + i].name = name_of(origins[i].sequence, called_);
    }
  }
  called_.clear();
  graph.dot = std::move(run.dot);
  while (run.steps.back().backward) run.steps.pop_back();
  const Differences differences(function, run.steps, run.result);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    WalkNode& node = walk_.nodes[graph.first + i];
    const Origin& origin = origins[i];
    if (!node.gradient.defined()) continue;
    node.sources = std::move(run.sources[origin.sequence]);
    if (node.kind == WalkNode::Kind::op) {
      node.differences = differences.of_step(origin.step, node.gradient);
    } else if (origin.sequence < before) {  // else the function makes it, and each run another
      const std::shared_ptr<TensorImpl> leaf = run.nodes.at(origin.sequence)->output.lock();
      if (leaf) node.differences = differences.of_leaf(Tensor(leaf), node.gradient);
    }
  }
  return run.result.detach();
}

void Lesson::update(const std::string& title, const std::string& text, const Names& names,
                    const std::function<void()>& change) {
  WalkStep step;
  step.kind = WalkStep::Kind::update;
  step.title = title;
  step.text = text;
  for (const auto& [name, tensor] : names) {
    const Tensor gradient = tensor.requires_grad() ? tensor.grad() : Tensor();
    step.changes.push_back({name, copy_of(tensor), copy_of(gradient), Tensor()});
  }
  change();
  for (std::size_t i = 0; i < names.size(); ++i) step.changes[i].after = copy_of(names[i].second);
  walk_.steps.push_back(std::move(step));
}

}  // namespace gradzoo::examples
