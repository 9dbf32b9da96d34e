// Where a token stands, as numbers to add to its embedding.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// [length, d_model] f64: column 2i is sin(p / 10000^(2i / d_model)) and column 2i+1 the cosine of
/// the same angle, for p = first, first + 1, … (Vaswani et al. 2017). An odd d_model ends in a
/// sine.
Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model, std::int64_t first = 0);

/// Rows first, first + 1, … of a table [max_length, d_model], one for each token of x [..., time,
/// d_model]. Throws when the sequence is longer than the table, naming both lengths, and when x
/// does not fit.
Tensor position_rows(const Tensor& table, const Tensor& x, std::int64_t first);

/// Adds sinusoidal positions: x [batch, time, d_model], time + first at most max_length.
struct SinusoidalPositions {
  Tensor table;  ///< [max_length, d_model] f64: not trained, not in checkpoints

  SinusoidalPositions() = default;
  SinusoidalPositions(std::int64_t max_length, std::int64_t d_model)
      : table(sinusoidal_positions(max_length, d_model)) {}

  /// Throws when the sequence is longer than the table, naming both lengths.
  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;
};

}  // namespace gradzoo::nn
