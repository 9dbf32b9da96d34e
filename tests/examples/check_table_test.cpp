// The check of a walk step by step: what was compared where, and how it is said.
#include "examples/common/walk/check_table.h"

#include <doctest/doctest.h>

#include "examples/common/walk/text_layout.h"
#include "examples/lessons/lessons.h"
#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;

TEST_CASE("check table: a line for each backward step that completes a gradient") {
  const Walk walk = run_lesson(find_lesson("expression"), 1);
  const WalkCheck whole = check_walk(walk);
  const std::vector<std::string> lines = check_table(walk);
  REQUIRE(lines.size() == whole.steps + 1);
  std::size_t at = 1, differences = 0;
  for (std::size_t i = 0; i < walk.steps.size(); ++i) {
    const StepCheck check = check_step(walk, i);
    if (check.differences == 0) continue;
    CAPTURE(lines[at]);
    CHECK(lines[at].find("step " + std::to_string(i + 1)) == 0);
    const std::string op = std::string(" = ") + walk.nodes[walk.steps[i].node].op.name;
    CHECK(lines[at].substr(lines[at].size() - op.size()) == op);
    CHECK(lines[at].find("  right  ") != std::string::npos);
    differences += check.differences;
    ++at;
  }
  CHECK(differences == whole.differences);
}

TEST_CASE("check table: a wrong gradient is called wrong, in its own colour") {
  Walk walk = run_lesson(find_lesson("expression"), 1);
  std::size_t step = 0;
  while (check_step(walk, step).differences == 0) ++step;
  Difference& planted = walk.nodes[walk.completed(walk.steps[step])[0]].differences[0];
  planted.right = false;
  planted.analytic = 2;
  planted.numeric = 1;
  planted.relative = 0.5;
  CHECK_FALSE(check_step(walk, step).right);
  CHECK(check_step(walk, step).relative == 0.5);
  const std::vector<std::string> lines = check_table(walk, {.style = {"B", "D", "G", "R", "P"}});
  CHECK(lines[0].front() == 'D');
  CHECK(lines[1].find("5.0e-01  RWRONGP") != std::string::npos);
  CHECK(lines[2].find("GrightP") != std::string::npos);
}

TEST_CASE("check table: gradients that are too small have no relative error") {
  Walk walk = run_lesson(find_lesson("expression"), 1);
  for (WalkNode& node : walk.nodes) {
    for (Difference& d : node.differences) d.analytic = d.numeric = 0;
  }
  for (std::size_t i = 0; i < walk.steps.size(); ++i) CHECK_FALSE(check_step(walk, i).relative);
  CHECK(check_table(walk)[1].find("-  right") != std::string::npos);
  for (WalkNode& node : walk.nodes) node.differences.clear();
  CHECK(check_table(walk).empty());
}

TEST_CASE("check table: lines of long lessons fit into 40 columns") {
  const Walk& walk = test::walk_of("training_step", 1);
  const std::vector<std::string> lines = check_table(walk, {.width = 40});
  CHECK(lines.size() > 100);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(columns(line) <= 40);
    CHECK(line.find(line == lines[0] ? "relative" : "right") != std::string::npos);
  }
}
