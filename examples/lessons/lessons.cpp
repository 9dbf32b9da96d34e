// The table of lessons.
#include "examples/lessons/lessons.h"

#include "examples/common/names.h"
#include "examples/common/program.h"

namespace gradzoo::examples {

const std::vector<LessonEntry>& lesson_table() {
  static const std::vector<LessonEntry> table = {
      {1, "expression", "an expression: values used more than once, gradients that add up",
       lessons::expression},
      {2, "neuron", "a neuron and one step of gradient descent", lessons::neuron},
      {3, "matrices", "broadcasting and the product of matrices", lessons::matrices},
      {4, "cross_entropy", "softmax and cross-entropy: the gradient is y - t",
       lessons::cross_entropy},
      {5, "layer_norm", "layer normalisation, and the directions without gradient",
       lessons::layer_norm},
      {6, "self_attention", "scaled dot-product attention, the causal mask, and why sqrt(d)",
       lessons::self_attention},
      {7, "heads", "several heads of attention are views", lessons::heads},
      {8, "vanishing", "an RNN's gradient vanishes in time, attention's does not",
       lessons::vanishing},
      {9, "seq2seq", "an encoder and a decoder with attention between them", lessons::seq2seq},
      {10, "training_step", "one training step of a tiny Transformer", lessons::training_step},
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
