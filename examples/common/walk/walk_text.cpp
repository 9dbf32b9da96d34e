// Cards of steps.
#include "examples/common/walk/walk_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/format.h"
#include "examples/common/walk/text_layout.h"

namespace gradzoo::examples {
namespace {

// What a node is: "x  leaf", "%3  mul(x, %2)".
std::string call_text(const Walk& walk, std::size_t position) {
  const WalkNode& node = walk.nodes[position];
  if (node.kind != WalkNode::Kind::op) return node.op.name;
  std::string text = node.op.name;
  text += "(";
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    if (k > 0) text += ", ";
    text += node.inputs[k] == kNone ? "_" : walk.label(node.inputs[k]);
  }
  return printable(text + ")");
}

std::string element_text(const Tensor& x, std::int64_t element) {
  return x.dim() == 0 ? "" : to_string(unravel_index(element, x.shape()));
}

std::string number(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.7g}", value);  // whatever its sign
}

std::string count_text(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool is_zero(const Difference& d) {
  return std::max(std::abs(d.analytic), std::abs(d.numeric)) <= kTiny;
}

std::string relative_text(const Difference& d) {
  if (std::isnan(d.relative)) return "nan";
  return is_zero(d) ? "-" : d.relative == 0 ? "0" : fmt::format("{:.1e}", d.relative);
}

// Lines of one card, none of them wider than it.
class Card {
 public:
  Card(const Walk& walk, const CardOptions& options)
      : walk_(walk), options_(options), width_(std::max<std::size_t>(options.width, 40)) {}

  void detail(const WalkStep& step) {
    switch (step.kind) {
      case WalkStep::Kind::note:
        return note(step);
      case WalkStep::Kind::update:
        return update(step);
      case WalkStep::Kind::forward:
        return forward(step);
      case WalkStep::Kind::backward:
        return backward(step);
    }
  }

  void title(const std::string& text) { put(cut(printable(text), width_), options_.style.bold); }

  void window(const WalkStep& step) {
    const WalkGraph& graph = walk_.graphs[step.graph];
    const std::size_t count = graph.last - graph.first, shown = std::min(options_.window, count);
    const std::size_t at = step.node - graph.first;
    std::size_t first = at - std::min(at, shown / 2);
    first = graph.first + std::min(first, count - shown);
    std::size_t names = 0, calls = 0, types = 0;
    for (std::size_t i = first; i < first + shown; ++i) {
      names = std::max(names, columns(name_of(i)));
      calls = std::max(calls, columns(call_text(walk_, i)));
      types = std::max(types, type_text(walk_.nodes[i].value).size());
    }
    names = std::min(names, width_ / 4);
    calls = std::min(calls, width_ / 3);
    for (std::size_t i = first; i < first + shown; ++i) {
      window_line(step, i, {names, calls, types});
    }
  }

  void checks() {
    const WalkCheck check = check_walk(walk_);
    if (check.differences == 0) return put("nothing to check: no gradient has differences");
    if (check.wrong.empty()) {
      put("every step is right", options_.style.green);
    } else {
      put(fmt::format("{} of {} WRONG", check.wrong.size(), count_text(check.steps, "step")),
          options_.style.red);
    }
    std::string sum = count_text(check.differences, "central difference") + " beside " +
                      count_text(check.steps, "backward step");
    if (check.worst != kNone) {
      const std::size_t node = walk_.completed(walk_.steps[check.worst])[0];
      sum += fmt::format(
          "; the largest relative error of a gradient above {:g} is {:.1e}, at step {}",
          small_gradient(walk_.nodes[node].gradient.dtype()), check.relative, check.worst + 1);
    }
    text(sum + ".", 0);
    for (const std::size_t step : check.wrong) {
      put(cut(fmt::format("  step {}: backward of {} = {}", step + 1,
                          name_of(walk_.steps[step].node),
                          call_text(walk_, walk_.steps[step].node)),
              width_),
          options_.style.red);
      differences(walk_.completed(walk_.steps[step]), true);
    }
  }

  Lines lines;

 private:
  struct Widths {
    std::size_t names, calls, types;
  };

  void put(const std::string& line, const std::string& mark = "") {
    lines.push_back(mark.empty() || line.empty() ? line : mark + line + options_.style.plain);
  }

  void text(const std::string& paragraphs, std::size_t indent) {
    for (const std::string& line : wrapped(paragraphs, width_, indent)) put(line);
  }

  std::string name_of(std::size_t node) const { return printable(walk_.label(node)); }

  void window_line(const WalkStep& step, std::size_t i, const Widths& widths) {
    const WalkNode& node = walk_.nodes[i];
    const bool here = i == step.node;
    const bool back = step.kind == WalkStep::Kind::backward && i >= step.node;
    std::string line = (here ? "> " : "  ");
    line += left(cut_front(name_of(i), widths.names), widths.names) + "  ";
    line += left(cut(call_text(walk_, i), widths.calls), widths.calls) + "  ";
    line += left(type_text(node.value), widths.types);
    const std::string numbers = back && node.gradient.defined()
                                    ? "  grad " + summary(node.gradient, 6)
                                    : "  " + summary(node.value, 6);
    const std::string marker = here ? "  <- you are here" : "";
    // The current node's numbers stand below anyway.
    if (!here || columns(line + numbers + marker) <= width_) line += numbers;
    line = cut(line, width_ - columns(marker)) + marker;
    line.erase(line.find_last_not_of(' ') + 1);
    put(line, here ? options_.style.bold : back ? "" : options_.style.dim);
  }

  // "  y = %3, f64 [2, 2]" and the numbers: on the same line if they fit.
  void numbers(const std::string& head, const Tensor& x) {
    const Lines values = number_lines(x, width_ - 6);
    if (values.size() == 1 && columns(head) + 2 + columns(values[0]) <= width_) {
      return put(head + "  " + values[0]);
    }
    put(cut(head.substr(0, head.find_last_not_of(' ') + 1), width_));
    for (const std::string& line : values) {
      const bool blank = line.find_first_not_of(' ') == std::string::npos;
      put(blank ? "" : "      " + line);
    }
  }

  void op_line(const WalkStep& step, const char* direction) {
    const std::string path = walk_.path(step.node);
    std::string line =
        fmt::format("{}{} = {}", direction, name_of(step.node), call_text(walk_, step.node));
    for (const std::string& part : wrapped(line, width_, 4)) put(part, options_.style.bold);
    if (!path.empty()) text("  in " + printable(path), 5);
  }

  // One line for each of "dx = ...; dw = ...".
  void rule(std::string_view rule) {
    if (rule.empty()) return put("  rule  (this op comes without one)");
    for (std::string head = "  rule  "; !rule.empty(); head.assign(head.size(), ' ')) {
      const std::size_t end = std::min(rule.find("; "), rule.size());
      text(head + std::string(rule.substr(0, end)), head.size() + 4);
      rule.remove_prefix(std::min(end + 2, rule.size()));
    }
  }

  void forward(const WalkStep& step) {
    const WalkNode& node = walk_.nodes[step.node];
    op_line(step, "");
    rule(node.op.forward);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k] == kNone) continue;
      const Tensor& value = walk_.nodes[node.inputs[k]].value;
      numbers(fmt::format("  {} = {}  {}", argument_name(node.op, k), name_of(node.inputs[k]),
                          type_text(value)),
              value);
    }
    numbers(fmt::format("  y = {}  {}", name_of(step.node), type_text(node.value)), node.value);
  }

  void backward(const WalkStep& step) {
    const WalkNode& node = walk_.nodes[step.node];
    op_line(step, "backward of ");
    rule(node.op.backward);
    if (node.gradient.defined()) {
      numbers(
          fmt::format("  dy, the gradient of {}  {}", name_of(step.node), type_text(node.gradient)),
          node.gradient);
    }
    for (const WalkUse& its : step.uses) use(node, its);
    differences(walk_.completed(step), false);
  }

  void use(const WalkNode& node, const WalkUse& use) {
    const std::string argument = argument_name(node.op, use.input);
    std::string head = fmt::format("  d{} to the gradient of {}", argument, name_of(use.node));
    if (use.uses == 1) return numbers(head + ":", use.after);
    head += fmt::format(", use {} of {}", use.use, use.uses);
    const std::string was = use.before.defined() ? summary(use.before, 6) : "nothing";
    const std::string line = fmt::format("{}, was {}, added {}, now {}", head, was,
                                         summary(use.added, 6), summary(use.after, 6));
    if (columns(line) <= width_) return put(line);
    put(cut(head, width_));
    if (use.before.defined()) numbers("    was  ", use.before);
    numbers("    added", use.added);
    numbers("    now  ", use.after);
  }

  void differences(const std::vector<std::size_t>& nodes, bool only_wrong) {
    const std::size_t room = std::max<std::size_t>(width_, 60) - 49;  // beside the numbers
    std::vector<std::vector<std::string>> rows;
    std::vector<bool> rights;
    for (const std::size_t node : nodes) {
      for (const Difference& d : walk_.nodes[node].differences) {
        if (only_wrong && d.right) continue;
        const std::string element = element_text(walk_.nodes[node].gradient, d.element);
        rows.push_back({cut_front(name_of(node) + element, room), number(d.analytic),
                        number(d.numeric), relative_text(d)});
        rights.push_back(d.right);
      }
    }
    if (rows.empty()) return;
    const Lines table =
        table_lines({"gradient of", "backward", "difference", "relative"}, rows, width_ - 9);
    put("  " + table[0], options_.style.dim);
    for (std::size_t i = 0; i < rights.size(); ++i) {
      const Style& style = options_.style;
      const std::string verdict = rights[i] ? style.green + "right" : style.red + "WRONG";
      lines.push_back("  " + table[i + 1] + "  " + verdict + style.plain);
    }
  }

  void note(const WalkStep& step) {
    text(step.text, 0);
    if (step.table.heads.empty()) return;
    put("");
    const Lines table = table_lines(step.table.heads, step.table.rows, width_ - 2);
    for (std::size_t i = 0; i < table.size(); ++i) {
      put("  " + table[i], i == 0 ? options_.style.bold : "");
    }
  }

  void update(const WalkStep& step) {
    text(step.text, 0);
    for (const WalkStep::Change& change : step.changes) {
      put(cut(fmt::format("  {}  {}", printable(change.name), type_text(change.after)), width_),
          options_.style.bold);
      numbers("    before  ", change.before);
      if (change.gradient.defined()) numbers("    gradient", change.gradient);
      numbers("    after   ", change.after);
    }
  }

  const Walk& walk_;
  const CardOptions& options_;
  const std::size_t width_;
};

bool has_node(const WalkStep& step) { return step.node != kNone; }

}  // namespace

Lines graph_lines(const Walk& walk, std::size_t step, const CardOptions& options) {
  Card card(walk, options);
  if (has_node(walk.steps[step])) card.window(walk.steps[step]);
  return card.lines;
}

Lines detail_lines(const Walk& walk, std::size_t step, const CardOptions& options) {
  Card card(walk, options);
  card.detail(walk.steps[step]);
  return card.lines;
}

Lines step_card(const Walk& walk, std::size_t step, const CardOptions& options) {
  const WalkStep& its = walk.steps[step];
  const bool back = its.kind == WalkStep::Kind::backward;
  const std::string what = has_node(its) ? std::string(back ? "backward" : "forward") + ", " +
                                               walk.graphs[its.graph].title
                                         : its.title;
  Card card(walk, options);
  card.title(fmt::format("step {} of {}: {}", step + 1, walk.steps.size(), what));
  if (has_node(its)) {
    card.window(its);
    card.lines.push_back("");
  }
  card.detail(its);
  return card.lines;
}

Lines check_lines(const Walk& walk, const CardOptions& options) {
  Card card(walk, options);
  card.checks();
  return card.lines;
}

}  // namespace gradzoo::examples
