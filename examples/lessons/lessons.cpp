// The table of lessons.
#include "examples/lessons/lessons.h"

#include "examples/common/names.h"
#include "examples/common/program.h"

namespace gradzoo::examples {

const std::vector<LessonEntry>& lesson_table() {
  static const std::vector<LessonEntry> table = {
      {1, "expression", "an expression: a value used twice, gradients that add up",
       lessons::expression},
      {2, "neuron", "a neuron and one step of gradient descent", lessons::neuron},
      {3, "matrices", "broadcasting and the product of matrices", lessons::matrices},
      {11, "own", "your own function: change examples/lessons/own.cpp", lessons::own},
  };
  return table;
}

const LessonEntry& find_lesson(const std::string& text) {
  std::vector<std::string> names;
  for (const LessonEntry& entry : lesson_table()) {
    if (same_name(text, entry.name) || text == std::to_string(entry.number)) return entry;
    names.emplace_back(entry.name);
  }
  throw UsageError(fmt::format("there is no lesson '{}'; the nearest: {} (--list: all)", text,
                               nearest_names(text, names, 3)));
}

Walk run_lesson(const LessonEntry& entry, std::uint64_t seed) {
  Lesson lesson(fmt::format("Lesson {}: {}", entry.number, entry.title), seed);
  entry.run(lesson);
  return lesson.result();
}

}  // namespace gradzoo::examples
