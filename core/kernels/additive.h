// Additive comparison of all pairs of two sets of contiguous rows, forward and backward.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

/// How many there are: rows of the batch, queries and keys in each, numbers in each of these.
struct PairSizes {
  std::int64_t batch, queries, keys, n;
};

/// y [batch, queries, keys] = sum over n of v tanh(query + key), for query [batch, queries, n], key
/// [batch, keys, n] and v [n].
template <class T>
void additive_scores(const T* query, const T* keys, const T* v, const PairSizes& sizes, T* y);
/// From dy, shaped like y: dquery, dkeys, and dv [batch, n], its part of each row of the batch.
template <class T>
void additive_scores_backward(const T* query, const T* keys, const T* v, const T* dy,
                              const PairSizes& sizes, T* dquery, T* dkeys, T* dv);

}  // namespace gradzoo::kernels
