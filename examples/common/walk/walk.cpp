// Names of what is in a walk, and its differences taken together.
#include "examples/common/walk/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gradzoo::examples {
namespace {

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    words.push_back(word);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

}  // namespace

std::string Walk::path(std::size_t node) const {
  std::string path;
  for (std::size_t scope = nodes[node].scope; scope != kNone; scope = scopes[scope].parent) {
    path = path.empty() ? scopes[scope].name : scopes[scope].name + "/" + path;
  }
  return path;
}

std::string Walk::label(std::size_t node) const {
  const WalkNode& its = nodes[node];
  if (!its.name.empty()) return its.name;
  return fmt::format("%{}", node - graphs[its.graph].first + 1);
}

std::vector<std::size_t> Walk::completed(const WalkStep& step) const {
  std::vector<std::size_t> complete;
  for (const WalkUse& use : step.uses) {
    if (use.use == use.uses) complete.push_back(use.node);
  }
  return complete;
}

std::string argument_name(const Op& op, std::size_t k) {
  const std::vector<std::string_view> words = words_of(op.arguments);
  if (words.empty()) return fmt::format("input {}", k + 1);
  std::string_view last = words.back();
  const bool any_number = last.ends_with("...");
  if (any_number && k + 1 >= words.size()) {
    last.remove_suffix(3);
    return fmt::format("{}{}", last, k + 2 - words.size());
  }
  return k < words.size() ? std::string(words[k]) : fmt::format("input {}", k + 1);
}

StepCheck check_step(const Walk& walk, std::size_t step) {
  StepCheck result;
  for (const std::size_t node : walk.completed(walk.steps[step])) {
    for (const Difference& d : walk.nodes[node].differences) {
      ++result.differences;
      result.right = result.right && d.right;
      const double size = std::max(std::abs(d.analytic), std::abs(d.numeric));
      if (size < small_gradient(walk.nodes[node].gradient.dtype())) continue;
      result.relative = std::max(result.relative.value_or(0), d.relative);
    }
  }
  return result;
}

WalkCheck check_walk(const Walk& walk) {
  WalkCheck result;
  for (std::size_t i = 0; i < walk.steps.size(); ++i) {
    const StepCheck check = check_step(walk, i);
    if (check.differences > 0) ++result.steps;
    result.differences += check.differences;
    if (!check.right) result.wrong.push_back(i);
    if (check.relative && (result.worst == kNone || *check.relative > result.relative)) {
      result.relative = *check.relative;
      result.worst = i;
    }
  }
  return result;
}

}  // namespace gradzoo::examples
