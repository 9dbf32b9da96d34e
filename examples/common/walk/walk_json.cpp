// A walk as the data of a page.
#include "examples/common/walk/walk_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "examples/common/walk/numbers.h"

namespace gradzoo::examples {
namespace {

using Json = nlohmann::ordered_json;

Json position(std::size_t index) { return index == kNone ? Json(-1) : Json(index); }

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double rounded = std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
  const bool whole = std::floor(rounded) == rounded && std::abs(rounded) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(rounded)) : Json(rounded);
}

// Things of which equal ones are written once.
class Pool {
 public:
  std::size_t add(Json thing) {
    const auto [found, is_new] = index_.try_emplace(thing.dump(), things_.size());
    if (is_new) things_.push_back(std::move(thing));
    return found->second;
  }
  Json take() { return std::move(things_); }

 private:
  Json things_ = Json::array();
  std::unordered_map<std::string, std::size_t> index_;
};

// [smallest, mean, largest] of the finite numbers, and how many are not finite.
Json statistics(const std::vector<double>& numbers) {
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  std::int64_t finite = 0;
  for (const double value : numbers) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    ++finite;
  }
  const double mean = sum / static_cast<double>(finite);
  const auto others = static_cast<std::int64_t>(numbers.size()) - finite;
  return {number(low), number(mean), number(high), others};
}

// Rows and columns of a large tensor that are shown when tensors of `most` elements are whole.
std::int64_t corner_side(std::int64_t most) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(most)));
  return std::clamp<std::int64_t>(side, 2, 16);
}

Json tensor_json(const Tensor& x, std::int64_t most) {
  Json shape = Json::array(), values = Json::array();
  for (int axis = 0; axis < x.dim(); ++axis) shape.push_back(x.size(axis));
  Json out = {{"dtype", fmt::format("{}", x.dtype())}, {"shape", std::move(shape)}};
  const std::vector<double> numbers = numbers_of(x);
  if (x.numel() <= most) {
    for (const double value : numbers) values.push_back(number(value));
  } else {
    const std::int64_t columns = x.size(-1), rows = x.dim() > 1 ? x.size(-2) : 1;
    const std::int64_t side = corner_side(most);
    const std::int64_t some_rows = std::min(rows, side), some = std::min(columns, side);
    for (std::int64_t r = 0; r < some_rows; ++r) {
      for (std::int64_t c = 0; c < some; ++c) {
        values.push_back(number(numbers[static_cast<std::size_t>(r * columns + c)]));
      }
    }
    out["statistics"] = statistics(numbers);
    out["corner"] = {some_rows, some};
  }
  out["values"] = std::move(values);
  return out;
}

class Writer {
 public:
  Writer(const Walk& walk, std::int64_t most) : walk_(walk), most_(most) {}

  Json data() {
    Json scopes = Json::array(), nodes = Json::array(), steps = Json::array();
    for (const WalkScope& scope : walk_.scopes) {
      scopes.push_back({{"name", scope.name}, {"parent", position(scope.parent)}});
    }
    for (std::size_t i = 0; i < walk_.nodes.size(); ++i) nodes.push_back(node(i));
    for (const WalkStep& each : walk_.steps) steps.push_back(step(each));
    Json graphs = Json::array();
    for (std::size_t i = 0; i < walk_.graphs.size(); ++i) graphs.push_back(graph(i));
    return {{"title", walk_.title},        {"scopes", std::move(scopes)},
            {"nodes", std::move(nodes)},   {"steps", std::move(steps)},
            {"graphs", std::move(graphs)}, {"ops", ops_.take()},
            {"tensors", tensors_.take()},  {"sources", sources_.take()}};
  }

 private:
  Json tensor(const Tensor& x) {
    return x.defined() ? Json(tensors_.add(tensor_json(x, most_))) : Json(-1);
  }

  Json op(const WalkNode& node) {
    Json arguments = Json::array();
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      arguments.push_back(argument_name(node.op, k));
    }
    return ops_.add({{"name", node.op.name},
                     {"arguments", std::move(arguments)},
                     {"forward", node.op.forward},
                     {"backward", node.op.backward}});
  }

  // Lists of cells, and for each cell of the output which of them is its.
  Json source(const std::vector<std::vector<std::int32_t>>& cells) {
    if (cells.empty()) return -1;
    std::map<std::vector<std::int32_t>, std::size_t> known;
    Json lists = Json::array(), which = Json::array();
    for (const std::vector<std::int32_t>& list : cells) {
      const auto [found, is_new] = known.try_emplace(list, lists.size());
      if (is_new) lists.push_back(list);
      which.push_back(found->second);
    }
    return sources_.add({{"lists", std::move(lists)}, {"which", std::move(which)}});
  }

  static Json differences(const std::vector<Difference>& differences) {
    Json out = Json::array();
    for (const Difference& d : differences) {
      // Of two zeros but for rounding, the relative error says nothing.
      const bool counts = std::max(std::abs(d.analytic), std::abs(d.numeric)) > kTiny;
      const Json relative = counts ? number(d.relative) : Json("-");
      out.push_back({d.element, number(d.analytic), number(d.numeric), relative, d.right ? 1 : 0});
    }
    return out;
  }

  Json node(std::size_t index) {
    const WalkNode& node = walk_.nodes[index];
    const char* kinds[] = {"leaf", "constant", "op"};
    Json inputs = Json::array(), sources = Json::array();
    for (const std::size_t input : node.inputs) inputs.push_back(position(input));
    for (const auto& cells : node.sources) sources.push_back(source(cells));
    Json out = {{"kind", kinds[static_cast<int>(node.kind)]},
                {"graph", node.graph},
                {"label", walk_.label(index)},
                {"scope", position(node.scope)},
                {"op", op(node)},
                {"inputs", std::move(inputs)},
                {"value", tensor(node.value)},
                {"gradient", tensor(node.gradient)}};
    if (!sources.empty()) out["sources"] = std::move(sources);
    if (!node.differences.empty()) out["differences"] = differences(node.differences);
    return out;
  }

  Json step(const WalkStep& step) {
    const char* kinds[] = {"note", "forward", "backward", "update"};
    Json out = {{"kind", kinds[static_cast<int>(step.kind)]}};
    if (step.node != kNone) out["node"] = step.node;
    for (const WalkUse& use : step.uses) {
      out["uses"].push_back({{"input", use.input},
                             {"node", use.node},
                             {"use", use.use},
                             {"uses", use.uses},
                             {"before", tensor(use.before)},
                             {"added", tensor(use.added)},
                             {"after", tensor(use.after)}});
    }
    if (!step.title.empty()) out["title"] = step.title;
    if (!step.text.empty()) out["text"] = step.text;
    if (!step.table.heads.empty()) out["heads"] = step.table.heads;
    if (!step.table.rows.empty()) out["rows"] = step.table.rows;
    for (const WalkStep::Change& change : step.changes) {
      out["changes"].push_back({{"name", change.name},
                                {"before", tensor(change.before)},
                                {"gradient", tensor(change.gradient)},
                                {"after", tensor(change.after)}});
    }
    return out;
  }

  // The step after which nothing is added to a value's gradient any more.
  std::size_t last_use(std::size_t node) const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < walk_.steps.size(); ++i) {
      for (const WalkUse& use : walk_.steps[i].uses) {
        if (use.node == node) last = i;
      }
    }
    return last;
  }

  // The layer of a parameter "encoder.0.weight" is "encoder.0", that of "w" itself.
  static std::string layer_of(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
  }

  Json graph(std::size_t index) const {
    const WalkGraph& graph = walk_.graphs[index];
    struct Layer {
      std::string name;
      double squares = 0;
      std::size_t complete = 0;
    };
    std::vector<Layer> layers;
    for (std::size_t i = graph.first; i < graph.last; ++i) {
      const WalkNode& node = walk_.nodes[i];
      if (node.kind != WalkNode::Kind::leaf || !node.gradient.defined()) continue;
      const std::string name = layer_of(walk_.label(i));
      auto layer = std::find_if(layers.begin(), layers.end(),
                                [&](const Layer& known) { return known.name == name; });
      if (layer == layers.end()) layer = layers.insert(layer, {name, 0, 0});
      for (const double value : numbers_of(node.gradient)) layer->squares += value * value;
      layer->complete = std::max(layer->complete, last_use(i));
    }
    Json norms = Json::array();
    for (const Layer& layer : layers) {
      norms.push_back({layer.name, number(std::sqrt(layer.squares)), layer.complete});
    }
    return {{"title", graph.title},
            {"first", graph.first},
            {"output", graph.output},
            {"layers", std::move(norms)}};
  }

  const Walk& walk_;
  const std::int64_t most_;
  Pool ops_, tensors_, sources_;
};

}  // namespace

Json walk_json(const Walk& walk, std::int64_t most) { return Writer(walk, most).data(); }

}  // namespace gradzoo::examples
