// The lessons of step_through. Each is a short function in a file of its own, to be read and
// changed.
#pragma once

#include <string>
#include <vector>

#include "examples/common/walk/lesson.h"

namespace gradzoo::examples {

struct LessonEntry {
  int number;
  const char* name;   ///< as typed: that of its function and file
  const char* title;  ///< one line for --list
  void (*run)(Lesson& lesson);
};

/// All of them, in the order in which to read them.
const std::vector<LessonEntry>& lesson_table();

/// The lesson of this number or name. Throws UsageError naming the nearest ones.
const LessonEntry& find_lesson(const std::string& text);

/// Runs it.
Walk run_lesson(const LessonEntry& entry, std::uint64_t seed);

namespace lessons {

void expression(Lesson& lesson);
void neuron(Lesson& lesson);
void matrices(Lesson& lesson);
void cross_entropy(Lesson& lesson);
void layer_norm(Lesson& lesson);
void self_attention(Lesson& lesson);
void heads(Lesson& lesson);
void vanishing(Lesson& lesson);
void seq2seq(Lesson& lesson);
void training_step(Lesson& lesson);
void own(Lesson& lesson);

}  // namespace lessons

}  // namespace gradzoo::examples
