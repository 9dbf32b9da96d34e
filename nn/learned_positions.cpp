// Learned positions.
#include "nn/learned_positions.h"

#include "core/ops/binary.h"
#include "nn/init.h"
#include "nn/position.h"

namespace gradzoo::nn {

LearnedPositions::LearnedPositions(std::int64_t max_length, std::int64_t d_model, Rng& rng) {
  check(max_length >= 1 && d_model >= 1,
        "LearnedPositions: the sizes must be at least 1, got max_length {} and d_model {}",
        max_length, d_model);
  weight = init::normal({max_length, d_model}, 0, 0.02, rng);
}

Tensor LearnedPositions::operator()(const Tensor& x, std::int64_t first) const {
  return x + position_rows(weight, x, first);
}

}  // namespace gradzoo::nn
