// Learned positions: a trained vector for each place in the sequence.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn {

/// Adds row p of a trained table to the token at place p (Gehring et al. 2017, BERT, GPT):
/// x [..., time, d_model], time + first at most max_length.
struct LearnedPositions {
  Tensor weight;  ///< [max_length, d_model]

  LearnedPositions() = default;
  /// Normal with standard deviation 0.02, as in BERT and GPT. Throws unless both sizes are at
  /// least 1.
  LearnedPositions(std::int64_t max_length, std::int64_t d_model, Rng& rng);

  /// `first` is the place of the first token of x. Throws when the sequence is longer than the
  /// table, naming both lengths.
  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;

  static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
};

}  // namespace gradzoo::nn
