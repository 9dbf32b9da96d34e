// What tests of lessons look up in a walk.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ops.h"
#include "examples/common/walk/walk.h"
#include "examples/lessons/lessons.h"

namespace gradzoo::test {

/// A lesson by name or number, run once however often it is asked for.
inline const examples::Walk& walk_of(std::string_view lesson, std::uint64_t seed) {
  static std::map<std::pair<int, std::uint64_t>, examples::Walk> walks;
  const std::string text(lesson);
  const examples::LessonEntry& entry = examples::find_lesson(text);
  const auto key = std::make_pair(entry.number, seed);
  if (!walks.contains(key)) walks.emplace(key, examples::run_lesson(entry, seed));
  return walks.at(key);
}

/// Each gradient that is complete was compared with central differences, and agrees.
inline void check_differences(const examples::Walk& walk) {
  const examples::WalkCheck check = examples::check_walk(walk);
  CHECK(check.differences > 0);
  CHECK(check.relative < 1e-3);  // of the smallest gradients
  for (const std::size_t step : check.wrong) {
    const examples::WalkStep& wrong = walk.steps.at(step);
    FAIL_CHECK("step " << step << ": " << walk.label(wrong.node));
  }
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    const examples::WalkNode& node = walk.nodes[i];
    if (!node.gradient.defined() || node.gradient.numel() == 0) continue;
    CHECK_MESSAGE(!node.differences.empty(), "no differences of ", walk.label(i));
  }
}

/// The largest number of cells that a tensor of the walk has.
inline std::int64_t largest_tensor(const examples::Walk& walk) {
  std::int64_t most = 0;
  for (const examples::WalkNode& node : walk.nodes) most = std::max(most, node.value.numel());
  return most;
}

/// The nodes of one function that this op left, in order.
inline std::vector<examples::WalkNode> nodes_of(const examples::Walk& walk, std::size_t graph,
                                                std::string_view op) {
  std::vector<examples::WalkNode> found;
  for (const examples::WalkNode& node : walk.nodes) {
    if (node.graph == graph && node.op.name == op) found.push_back(node);
  }
  return found;
}

/// The leaf or constant of one function that has this name.
inline examples::WalkNode named_node(const examples::Walk& walk, std::size_t graph,
                                     std::string_view name) {
  for (const examples::WalkNode& node : walk.nodes) {
    if (node.graph == graph && node.name == name) return node;
  }
  FAIL("no node is called " << name);
  return {};
}

/// The step with this title.
inline examples::WalkStep step_titled(const examples::Walk& walk, std::string_view title) {
  for (const examples::WalkStep& step : walk.steps) {
    if (step.title == title) return step;
  }
  FAIL("no step is called " << title);
  return {};
}

/// A column of a table as numbers.
inline std::vector<double> column(const examples::WalkTable& table, std::size_t index) {
  std::vector<double> numbers;
  for (const std::vector<std::string>& row : table.rows)
    numbers.push_back(std::stod(row.at(index)));
  return numbers;
}

}  // namespace gradzoo::test
