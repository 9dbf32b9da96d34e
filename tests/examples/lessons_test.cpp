// Every lesson: its differences are right for several seeds, and it shows what it claims.
#include "examples/lessons/lessons.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "examples/common/program.h"
#include "examples/common/walk/walk_text.h"
#include "tests/examples/lessons/lesson_walk.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(GRADZOO_SOURCE_ROOT) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("lessons: every difference of every lesson is right, for seeds 1 to 3") {
  for (const LessonEntry& entry : lesson_table()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(entry.name);
      CAPTURE(seed);
      const Walk& walk = test::walk_of(entry.name, seed);
      const WalkCheck check = check_walk(walk);
      CHECK(check.wrong.empty());
      CHECK(check.differences > 0);
      std::string lines;
      for (const std::string& line : check_lines(walk)) lines += line + "\n";
      INFO(lines);
      CHECK(lines.find("every step is right") != std::string::npos);
    }
  }
}

TEST_CASE("lessons: numbers and names lead to them, nothing else does") {
  CHECK(std::string(find_lesson("1").name) == "expression");
  CHECK(std::string(find_lesson("Neuron").name) == "neuron");
  CHECK_THROWS_WITH_AS(find_lesson("nueron"),
                       doctest::Contains("there is no lesson 'nueron'; the nearest: neuron, "),
                       UsageError);
  CHECK_THROWS_AS(find_lesson(""), UsageError);
  CHECK_THROWS_AS(find_lesson("01"), UsageError);
  int last = 0;
  for (const LessonEntry& entry : lesson_table()) {
    CHECK(entry.number > last);
    last = entry.number;
  }
}

TEST_CASE("lesson 1: gradients by hand, and what a second backward adds") {
  const Walk walk = run_lesson(find_lesson("expression"), 1);
  REQUIRE(walk.graphs.size() == 2);
  CHECK(walk.nodes[0].gradient.item() == 7);
  CHECK(walk.nodes[walk.graphs[1].first].gradient.item() == -26);
  CHECK(walk.steps.back().table.rows[0][1] == "7");
  CHECK(walk.steps.back().table.rows[1][1] == "14");
}

TEST_CASE("lesson 2: the step goes against the gradient, and the loss goes down") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Walk walk = run_lesson(find_lesson("neuron"), seed);
    REQUIRE(walk.graphs.size() == 2);
    const double before = walk.nodes[walk.graphs[0].output].value.item();
    const double after = walk.nodes[walk.graphs[1].output].value.item();
    CHECK(after < before);
    for (const WalkStep& step : walk.steps) {
      if (step.kind != WalkStep::Kind::update) continue;
      REQUIRE(step.changes.size() == 2);
      for (const WalkStep::Change& change : step.changes) {
        const auto was = change.before.to_vector<double>(), is = change.after.to_vector<double>();
        const auto gradient = change.gradient.to_vector<double>();
        for (std::size_t i = 0; i < was.size(); ++i) {
          CHECK(is[i] == doctest::Approx(was[i] - 0.1 * gradient[i]));
        }
      }
    }
  }
}

TEST_CASE("lesson 3: the gradient of what was repeated is a sum") {
  const Walk walk = run_lesson(find_lesson("matrices"), 1);
  // 2 (column + row), summed along the row and along the column.
  CHECK(walk.nodes[0].gradient.to_vector<double>() == std::vector<double>{64, 68, 72});
  CHECK(walk.nodes[1].gradient.to_vector<double>() == std::vector<double>{72, 132});
}

TEST_CASE("docs: the function in docs/step_through.md is the one in examples/lessons/own.cpp") {
  const std::string docs = read("docs/step_through.md"), own = read("examples/lessons/own.cpp");
  const std::size_t begin = docs.find("```cpp\n");
  REQUIRE(begin != std::string::npos);
  const std::string example = docs.substr(begin + 7, docs.find("```\n", begin) - begin - 7);
  CHECK(example.find("void own(Lesson& lesson) {") == 0);
  CHECK(std::count(example.begin(), example.end(), '\n') <= 10);
  CHECK(own.find(example) != std::string::npos);
  for (const LessonEntry& entry : lesson_table()) {
    CAPTURE(entry.name);
    CHECK(docs.find(std::string("`") + entry.name + "`") != std::string::npos);
  }
}
