// Rotary positions: queries and keys are turned by an angle that grows with their place, so that
// their products depend on the distance alone (Su et al. 2021).
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// Turns the pair (x_i, x_{i + d/2}) of the token at place p by p * base^(-2i / d), i < d/2.
/// The pairs are half the width apart, as in GPT-NeoX and the checkpoints of Llama in Hugging
/// Face's layout; the paper pairs neighbours, which is the same map after reordering the rows of
/// the q and k projections.
///
///     const Tensor context = scaled_dot_product_attention(rotary(q, first), rotary(k), v);
struct RotaryPositions {
  Tensor table;  ///< [max_length, d] f64: d/2 cosines, then d/2 sines; not trained, not saved

  RotaryPositions() = default;
  /// Throws unless d, the width of one head, is even and positive.
  RotaryPositions(std::int64_t max_length, std::int64_t d, double base = 10000);

  /// q or k: [batch, heads, time, d] (or any [..., time, d]), the first token at place `first`.
  /// Throws when the sequence is longer than max_length, naming both lengths.
  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;
};

}  // namespace gradzoo::nn
