// Looking at a recorded graph: as a list to read, and as a picture (DOT).
#include "core/graph.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <unordered_map>

#include "core/autograd.h"
#include "core/format.h"
#include "core/node.h"

namespace gradzoo {
namespace {

// A node with everything there is to say about it. Nodes are numbered from 1 in order of recording.
struct Entry {
  std::shared_ptr<Node> node;
  std::vector<std::size_t> inputs;  // numbers, 0 for an input without gradient
  std::string name;
  Tensor value;
  Tensor gradient;
};

// Values and gradients by node, as a trace saw them; the last backward pass counts.
struct Traced {
  std::unordered_map<std::uint64_t, Tensor> values;
  std::unordered_map<std::uint64_t, Tensor> gradients;
};

Traced read_trace(const Trace* trace) {
  Traced traced;
  if (trace == nullptr) return traced;
  for (const TraceStep& step : trace->steps()) {
    auto& found = step.backward ? traced.gradients : traced.values;
    if (!step.backward || step.op.name == std::string_view("accumulate")) {
      found[step.node] = step.outputs.at(0);
    } else {
      found[step.node] = step.inputs.at(0);
    }
    // What flows over the edges. A sum of several gradients follows as a step of its own.
    const auto& along = step.backward ? step.outputs : step.inputs;
    for (std::size_t k = 0; k < step.input_nodes.size(); ++k) {
      if (along[k].defined()) found[step.input_nodes[k]] = along[k];
    }
  }
  return traced;
}

Tensor value_of(const Node& node, const Traced& traced) {
  if (const auto it = traced.values.find(node.sequence); it != traced.values.end()) {
    return it->second;
  }
  if (const auto output = node.output.lock()) return Tensor(output);
  for (const SavedTensor& kept : node.saved) {
    if (kept.is_output) return kept.value;
  }
  return Tensor();
}

Tensor gradient_of(const Node& node, const Traced& traced) {
  const auto it = traced.gradients.find(node.sequence);
  return it != traced.gradients.end() ? it->second : node.grad;
}

std::vector<Entry> entries_of(const char* op, const Tensor& output, const GraphOptions& options) {
  check(output.requires_grad(), "{}: the tensor has no history", op);
  std::unordered_map<const Node*, std::string> names;
  for (const auto& [name, tensor] : options.names) {
    if (tensor.requires_grad()) names.emplace(tensor.node().get(), name);
  }
  const Traced traced = read_trace(options.trace);
  std::unordered_map<const Node*, std::size_t> numbers;
  std::vector<Entry> entries;
  for (const auto& node : graph_nodes({output})) {
    Entry entry{node, {}, "", value_of(*node, traced), gradient_of(*node, traced)};
    for (const auto& input : node->inputs) {
      entry.inputs.push_back(input == nullptr ? 0 : numbers.at(input.get()));
    }
    if (const auto it = names.find(node.get()); it != names.end()) entry.name = it->second;
    entries.push_back(std::move(entry));
    numbers[node.get()] = entries.size();
  }
  return entries;
}

std::string call_text(const Entry& entry, std::size_t number) {
  std::string text = fmt::format("%{} = {}", number, entry.node->op.name);
  if (!entry.node->is_leaf) {
    text += "(";
    for (std::size_t k = 0; k < entry.inputs.size(); ++k) {
      if (k > 0) text += ", ";
      text += entry.inputs[k] == 0 ? "_" : fmt::format("%{}", entry.inputs[k]);
    }
    text += ")";
  }
  return entry.name.empty() ? text : text + " " + entry.name;
}

// Text inside a quoted DOT string. Dot reads backslashes and entities there.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      out += ' ';  // would not be valid in an SVG
    } else {
      out += c;
    }
  }
  return out;
}

// One box of the picture: an opened scope, or (the first) all that is outside scopes.
struct Box {
  std::string name;
  std::vector<std::size_t> boxes;  // inside it
  std::vector<std::size_t> nodes;  // numbers
};

// A scope that was opened twice is two boxes, even when the names are equal.
std::vector<Box> boxes_of(const std::vector<Entry>& entries) {
  std::vector<Box> boxes(1);
  std::unordered_map<const ScopeName*, std::size_t> index = {{nullptr, 0}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ScopeName* scope = entries[i].node->scope.get();
    std::vector<const ScopeName*> missing;
    for (; index.count(scope) == 0; scope = scope->parent.get()) missing.push_back(scope);
    std::size_t box = index[scope];
    for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
      boxes[box].boxes.push_back(boxes.size());
      box = index[*it] = boxes.size();
      boxes.push_back({(*it)->name, {}, {}});
    }
    boxes[box].nodes.push_back(i + 1);
  }
  return boxes;
}

std::string node_text(const Entry& entry, std::size_t number) {
  const Node& node = *entry.node;
  std::string label = escaped(entry.name.empty() ? node.op.name : entry.name);
  label += fmt::format("\\n{} {}", node.dtype, node.shape);
  if (entry.value.defined()) label += "\\n= " + escaped(summary(entry.value));
  if (entry.gradient.defined()) label += "\\ngrad " + escaped(summary(entry.gradient));
  return fmt::format("n{} [label=\"{}\"{}];\n", number, label,
                     node.is_leaf ? ", fillcolor=\"#dbe9f6\"" : "");
}

void put_box(const std::vector<Box>& boxes, std::size_t index, const std::vector<Entry>& entries,
             int depth, std::string& out) {
  const Box& box = boxes[index];
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  if (index > 0) {
    out += fmt::format("{0}subgraph cluster_{1} {{\n{0}  label=\"{2}\";\n", indent, index,
                       escaped(box.name));
  }
  for (const std::size_t inner : box.boxes) put_box(boxes, inner, entries, depth + 1, out);
  for (const std::size_t number : box.nodes) {
    out += indent + "  " + node_text(entries[number - 1], number);
  }
  if (index > 0) out += indent + "}\n";
}

}  // namespace

std::string graph_list(const Tensor& output, const GraphOptions& options) {
  const std::vector<Entry> entries = entries_of("graph_list", output, options);
  std::vector<std::string> calls, types;
  std::size_t call_width = 0, type_width = 0;
  for (const Entry& entry : entries) {
    calls.push_back(call_text(entry, calls.size() + 1));
    types.push_back(fmt::format("{} {}", entry.node->dtype, entry.node->shape));
    call_width = std::max(call_width, calls.back().size());
    type_width = std::max(type_width, types.back().size());
  }
  std::string out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string line = fmt::format("{:<{}}  {:<{}}", calls[i], call_width, types[i], type_width);
    if (entries[i].node->scope != nullptr) line += "  in " + path_of(entries[i].node->scope);
    if (entries[i].value.defined()) line += "  = " + summary(entries[i].value);
    if (entries[i].gradient.defined()) line += "  grad " + summary(entries[i].gradient);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string graph_dot(const Tensor& output, const GraphOptions& options) {
  const std::vector<Entry> entries = entries_of("graph_dot", output, options);
  std::string out =
      "digraph gradzoo {\n"
      "  graph [fontname=\"Helvetica\", color=\"#888888\", style=rounded];\n"
      "  node [fontname=\"Helvetica\", shape=box, style=\"rounded,filled\", fillcolor=white];\n";
  put_box(boxes_of(entries), 0, entries, 0, out);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::size_t input : entries[i].inputs) {
      if (input > 0) out += fmt::format("  n{} -> n{};\n", input, i + 1);
    }
  }
  return out + "}\n";
}

}  // namespace gradzoo
