// How right a model is on data it was not trained on.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/common/batch.h"
#include "examples/common/zoo.h"

namespace gradzoo::examples {

/// Answers beside what they should be.
struct Evaluation {
  std::vector<Ids> answers;
  double exact_match = 0;     ///< share of sequences that are right from end to end
  double token_accuracy = 0;  ///< share of places with the right token, of the longer of the two
};

/// Counts how right answers are, one for each pair.
Evaluation compared(std::vector<Ids> answers, const std::vector<Pair>& pairs);

/// Answers every source, in batches of 250, and counts. An answer may be one token longer than the
/// longest target of all: a model that does not stop is wrong, not endless.
Evaluation evaluate(const ZooModel& model, const std::vector<Pair>& pairs);

/// Mean cross-entropy of the targets, in nats a token, end symbols included.
double mean_loss(const ZooModel& model, const std::vector<Pair>& pairs);
/// Of a text, read in windows of `context` tokens one after the other.
double mean_loss(const ZooModel& model, const Ids& text, std::int64_t context);

}  // namespace gradzoo::examples
