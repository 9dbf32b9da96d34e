// Additive comparison of vectors, as attention of Bahdanau et al. 2015 makes it.
#pragma once

#include "core/tensor.h"

namespace gradzoo {

/// sum_w v_w tanh(query_w + key_w) for every query with every key of its batch row: query [batch,
/// queries, n], keys [batch, keys, n], v [n] -> [batch, queries, keys]. The sums of all pairs, n
/// times as large as the result, are never in memory. Where the gradient of a pair is 0, nothing
/// flows, even if the pair is not finite.
Tensor additive_scores(const Tensor& query, const Tensor& keys, const Tensor& v);

}  // namespace gradzoo
