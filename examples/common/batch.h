// Examples of sequence-to-sequence learning, and batches of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace gradzoo::examples {

using Ids = std::vector<std::int64_t>;

/// The two sides of one example, without special ids.
struct Pair {
  Ids source;
  Ids target;
};

/// Pairs, padded and ready for teacher forcing.
struct Batch {
  Tensor source;      ///< i64 [batch, source], padded at the end
  Tensor lengths;     ///< i64 [batch]: real tokens of each source
  Tensor target_in;   ///< i64 [batch, target + 1]: begin symbol, target, padding
  Tensor target_out;  ///< i64 [batch, target + 1]: target, end symbol, padding
};
Batch make_batch(const std::vector<Pair>& pairs);

/// Rows of ids, padded at the end to the longest: i64 [rows, longest].
Tensor padded(const std::vector<Ids>& rows);

/// Splits `pairs` into batches whose padded sides together hold at most `max_tokens` ids (begin and
/// end symbols included), pairs of like lengths together: places in `pairs`, each once. The order
/// is a function of the seed: shuffled, then sorted by length within 100 batches' worth of pairs,
/// cut, and the batches shuffled. Throws when a pair alone does not fit.
std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<Pair>& pairs,
                                                        std::int64_t max_tokens,
                                                        std::uint64_t seed);

}  // namespace gradzoo::examples
