// Relative positions: attention that learns a vector for each distance between query and key
// (Shaw et al. 2018).
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/attend.h"

namespace gradzoo::nn {

struct RelativePositionsOptions {
  bool values = true;  ///< distances have a part in the values too, not in the scores alone
};

/// Attention where key j, seen from query i, is k_j + a_(j - i) and value j is v_j + b_(j - i).
/// Distances beyond max_distance count as max_distance. With fewer queries than keys the last query
/// is aligned with the last key, so that decoding step by step needs no offset.
struct RelativePositions {
  Tensor key_weight;    ///< a, [2 * max_distance + 1, d]: row max_distance + distance
  Tensor value_weight;  ///< b, likewise, or undefined

  RelativePositions() = default;
  /// d is the width of one head; the heads share the vectors. Throws unless max_distance is at
  /// least 0 and d at least 1.
  RelativePositions(std::int64_t max_distance, std::int64_t d, Rng& rng,
                    const RelativePositionsOptions& options = {});

  /// q, k, v [..., time, d] -> [..., queries, d]: scaled_dot_product_attention, with the same
  /// masks and shared heads, to the keys and values above.
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {},
                    double dropout = 0) const;
  /// The same output (as context), and the weights, before dropout.
  Attended with_weights(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {},
                        double dropout = 0) const;

  /// What the distances add to the scores: q_i . a_(j - i) / sqrt(d), [..., queries, keys]. A float
  /// mask, for attention without distances in the values.
  Tensor scores(const Tensor& q, std::int64_t keys) const;
  /// What they add to the output: sum_j weights_ij b_(j - i), [..., queries, d]. Throws unless the
  /// distances have a part in the values.
  Tensor context(const Tensor& weights) const;

  static void fields(auto& self, auto&& visit) {
    visit("key_weight", self.key_weight);
    visit("value_weight", self.value_weight);
  }
};

}  // namespace gradzoo::nn
