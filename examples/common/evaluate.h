// How right a model's answers are.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/common/tasks.h"
#include "models/transformer.h"

namespace gradzoo::examples {

/// Answers beside what they should be.
struct Evaluation {
  std::vector<Ids> answers;
  double exact_match = 0;     ///< share of sequences that are right from end to end
  double token_accuracy = 0;  ///< share of places with the right token, of the longer of the two
};

/// Decodes every pair greedily, in batches of 250.
Evaluation evaluate(const models::Transformer& model, const std::vector<Pair>& pairs);

}  // namespace gradzoo::examples
