// A walk as drawings: what is in each of them, and what is folded.
#include "examples/common/walk/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/format.h"

namespace gradzoo::examples {
namespace {

using Kind = DrawnItem::Kind;
using Edge = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kMostUsers = 6;  // of a leaf that is drawn once

// Which module each value of one function belongs to.
class Homes {
 public:
  Homes(const Walk& walk, const WalkGraph& graph) : walk_(walk), graph_(graph) {
    home_.assign(graph.last - graph.first, kNone);
    std::vector<bool> used(home_.size(), false);
    for (std::size_t v = graph.last; v-- > graph.first;) {
      if (walk.nodes[v].kind == WalkNode::Kind::op) home_[v - graph.first] = walk.nodes[v].scope;
      for (const std::size_t u : walk.nodes[v].inputs) {
        if (u == kNone || walk.nodes[u].kind == WalkNode::Kind::op) continue;
        // A leaf belongs where all its users are.
        const std::size_t i = u - graph.first;
        home_[i] = used[i] ? common(home_[i], of(v)) : of(v);
        used[i] = true;
      }
    }
  }

  std::size_t of(std::size_t node) const { return home_[node - graph_.first]; }

  // The scope directly inside `outer` that `scope` is or is in; kNone when it is not inside.
  std::size_t child_towards(std::size_t outer, std::size_t scope) const {
    while (scope != kNone && walk_.scopes[scope].parent != outer) {
      scope = walk_.scopes[scope].parent;
    }
    return scope;
  }
  bool inside(std::size_t outer, std::size_t scope) const {
    return outer == scope || outer == kNone || child_towards(outer, scope) != kNone;
  }

  // All scopes in which there is something, outer ones first; kNone is the first.
  std::vector<std::size_t> scopes() const {
    std::vector<std::size_t> found = {kNone};
    std::set<std::size_t> known = {kNone};
    for (const std::size_t scope : home_) {
      std::vector<std::size_t> missing;
      for (std::size_t s = scope; !known.contains(s); s = walk_.scopes[s].parent) {
        known.insert(s);
        missing.push_back(s);
      }
      found.insert(found.end(), missing.rbegin(), missing.rend());
    }
    return found;
  }

 private:
  std::size_t common(std::size_t a, std::size_t b) const {
    while (!inside(a, b)) a = walk_.scopes[a].parent;
    return a;
  }

  const Walk& walk_;
  const WalkGraph& graph_;
  std::vector<std::size_t> home_;
};

// "step 12" is the 12th "step".
std::string without_number(std::string name) {
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) ||
                           name.back() == ' ' || name.back() == '.' || name.back() == '_')) {
    name.pop_back();
  }
  return name;
}

std::string shape_text(const Tensor& value) {
  return value.defined() ? fmt::format("{}", value.shape()) : "";
}

// Makes the drawing of one module.
class Level {
 public:
  Level(const Walk& walk, std::size_t graph, std::size_t scope, const Homes& homes)
      : walk_(walk), homes_(homes) {
    drawing_.graph = graph;
    drawing_.scope = scope;
    const WalkGraph& range = walk.graphs[graph];
    for (std::size_t v = range.first; v < range.last; ++v) {
      const bool here = homes.inside(scope, homes.of(v));
      if (here && walk.nodes[v].kind != WalkNode::Kind::op && homes.of(v) == scope) place(v);
      for (const std::size_t u : walk.nodes[v].inputs) {
        if (u == kNone) continue;
        const bool from_here = homes.inside(scope, homes.of(u));
        if (here) connect(from_here ? place(u) : item(Kind::from, u), place(v));
        if (!here && from_here) connect(place(u), item(Kind::to, u));
      }
      if (here && walk.nodes[v].kind == WalkNode::Kind::op) place(v);
    }
  }

  // The drawing, with repeats folded and names no longer than it needs them.
  Drawing drawing() { return without_prefix(folded()); }

 private:
  Drawing folded() {
    std::vector<std::size_t> group(drawing_.items.size());
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = i;
    std::map<std::string, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (drawing_.items[i].kind != Kind::module) continue;
      std::vector<std::size_t>& before = alike[structure(drawing_.items[i].scopes[0])];
      for (auto j = before.rbegin(); j != before.rend() && group[i] == i; ++j) {
        if (!edges_.contains({*j, i}) && targets(*j) != targets(i)) continue;
        group[i] = group[*j];
        if (has_circle(group)) group[i] = i;
      }
      before.push_back(i);
    }
    return merged(group);
  }

  std::size_t item(Kind kind, std::size_t id) {
    const auto [found, is_new] = index_.try_emplace({kind, id}, drawing_.items.size());
    if (is_new) drawing_.items.push_back(described(kind, id));
    return found->second;
  }

  // The box in which a value of this module is.
  std::size_t place(std::size_t node) {
    const std::size_t home = homes_.of(node);
    if (home == drawing_.scope) return item(Kind::value, node);
    return item(Kind::module, homes_.child_towards(drawing_.scope, home));
  }

  void connect(std::size_t from, std::size_t to) {
    if (from != to) edges_.insert({from, to});
  }

  DrawnItem described(Kind kind, std::size_t id) const {
    if (kind == Kind::module) return {kind, kNone, {id}, walk_.scopes[id].name, "module"};
    const WalkNode& node = walk_.nodes[id];
    const std::string label = walk_.label(id), shape = shape_text(node.value);
    if (kind == Kind::from) return {kind, id, {}, label, "from outside"};
    if (kind == Kind::to) return {kind, id, {}, label, "goes on"};
    if (node.kind == WalkNode::Kind::op) {
      return {kind, id, {}, node.op.name, label + " " + shape};
    }
    const bool single = node.value.defined() && node.value.numel() == 1;
    return {kind, id, {}, label, single ? "= " + summary(node.value) : shape};
  }

  // The same for modules that a reader would call the same.
  std::string structure(std::size_t scope) const {
    std::string text = without_number(walk_.scopes[scope].name);
    const WalkGraph& range = walk_.graphs[drawing_.graph];
    for (std::size_t v = range.first; v < range.last; ++v) {
      if (walk_.nodes[v].kind != WalkNode::Kind::op || !homes_.inside(scope, homes_.of(v)))
        continue;
      text += fmt::format("\n{} {}", walk_.nodes[v].op.name, shape_text(walk_.nodes[v].value));
    }
    return text;
  }

  // Leaves "decoder.layers.1.norm.weight" and "decoder.layers.1.norm.bias" are "weight" and "bias".
  Drawing without_prefix(Drawing drawing) const {
    std::vector<std::string*> dotted;
    for (DrawnItem& item : drawing.items) {
      const bool leaf =
          item.kind == Kind::value && walk_.nodes[item.node].kind == WalkNode::Kind::leaf;
      if (leaf && item.title.find('.') != std::string::npos) dotted.push_back(&item.title);
    }
    if (dotted.size() < 2) return drawing;
    std::string prefix = dotted[0]->substr(0, dotted[0]->rfind('.') + 1);
    for (const std::string* title : dotted) {
      while (!title->starts_with(prefix)) {
        prefix.pop_back();
        prefix.resize(prefix.rfind('.') + 1);  // nothing left when there is no dot
      }
    }
    for (std::string* title : dotted) title->erase(0, prefix.size());
    return drawing;
  }

  std::set<std::size_t> targets(std::size_t from) const {
    std::set<std::size_t> found;
    for (auto edge = edges_.lower_bound({from, 0}); edge != edges_.end() && edge->first == from;
         ++edge) {
      found.insert(edge->second);
    }
    return found;
  }

  // Whether a way leads out of a group and back into it.
  bool has_circle(const std::vector<std::size_t>& group) const {
    std::vector<std::size_t> incoming(group.size(), 0);
    std::vector<std::vector<std::size_t>> next(group.size());
    for (const Edge& edge : edges_) {
      const std::size_t from = group[edge.first], to = group[edge.second];
      if (from == to) continue;
      next[from].push_back(to);
      ++incoming[to];
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (incoming[i] == 0) free.push_back(i);
    }
    for (std::size_t k = 0; k < free.size(); ++k) {
      for (const std::size_t to : next[free[k]]) {
        if (--incoming[to] == 0) free.push_back(to);
      }
    }
    return free.size() < group.size();
  }

  Drawing merged(const std::vector<std::size_t>& group) {
    std::vector<std::size_t> position(group.size());
    std::vector<DrawnItem> items;
    std::set<Edge> edges;
    std::set<std::size_t> chains;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] == i) {
        position[i] = items.size();
        items.push_back(std::move(drawing_.items[i]));
      } else {
        position[i] = position[group[i]];
        items[position[i]].scopes.push_back(drawing_.items[i].scopes[0]);
      }
    }
    for (const Edge& edge : edges_) {
      const std::size_t from = position[edge.first], to = position[edge.second];
      if (from == to) chains.insert(from);
      if (from != to) edges.insert({from, to});
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].scopes.size() < 2) continue;
      items[i].title =
          fmt::format("{} \u00d7 {}", without_number(items[i].title), items[i].scopes.size());
      items[i].detail = chains.contains(i) ? "one after the other" : "side by side";
    }
    return spread({drawing_.graph, drawing_.scope, std::move(items), {edges.begin(), edges.end()}});
  }

  // A leaf that very many use, or a value from outside, gets a box beside each user: lines all over
  // a drawing can be neither read nor laid out in time.
  Drawing spread(Drawing drawing) const {
    std::vector<std::size_t> users(drawing.items.size(), 0), drawn(users);
    for (const Edge& edge : drawing.edges) ++users[edge.first];
    for (Edge& edge : drawing.edges) {
      const std::size_t from = edge.first;
      const DrawnItem& item = drawing.items[from];
      const bool movable =
          item.kind == Kind::from ||
          (item.kind == Kind::value && walk_.nodes[item.node].kind != WalkNode::Kind::op);
      if (!movable || users[from] <= kMostUsers || ++drawn[from] == 1) continue;
      edge.first = drawing.items.size();
      drawing.items.push_back(DrawnItem(item));
    }
    return drawing;
  }

  const Walk& walk_;
  const Homes& homes_;
  Drawing drawing_;
  std::set<Edge> edges_;
  std::map<std::pair<Kind, std::size_t>, std::size_t> index_;
};

}  // namespace

std::vector<Drawing> drawings_of(const Walk& walk) {
  std::vector<Drawing> drawings;
  for (std::size_t graph = 0; graph < walk.graphs.size(); ++graph) {
    const Homes homes(walk, walk.graphs[graph]);
    for (const std::size_t scope : homes.scopes()) {
      drawings.push_back(Level(walk, graph, scope, homes).drawing());
    }
  }
  return drawings;
}

}  // namespace gradzoo::examples
