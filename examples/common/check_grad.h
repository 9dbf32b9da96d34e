// Are the gradients of a whole model right? One random direction for each of its weights.
#pragma once

#include <string>
#include <vector>

#include "examples/common/zoo.h"

namespace gradzoo::examples {

/// The derivative of the loss along a random direction of one weight, from backward and as a
/// central difference.
struct DirectionCheck {
  std::string name;
  double analytic = 0;
  double numeric = 0;
  double error = 0;  ///< relative
  bool ok = false;
};

/// Checks every weight of a copy of the model in f64, on one batch.
std::vector<DirectionCheck> check_directions(const ZooModel& model, const Batch& batch, Rng& rng);

}  // namespace gradzoo::examples
