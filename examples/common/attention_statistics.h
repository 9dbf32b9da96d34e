// What kind of head it is: numbers that tell heads apart which look at one place, at all of them,
// or at the place that lies in the same, the opposite or the previous position.
#pragma once

#include <optional>

#include "examples/common/attention.h"

namespace gradzoo::examples {

/// Of weights w [queries, keys], query i and key j counted from 0, n keys in all:
///
///     entropy        mean over the queries of -sum_j w[i, j] ln w[i, j], in nats (0 ln 0 = 0)
///     most_entropy   mean over the queries of ln(number of keys that i may attend to): the entropy
///                    of a head that looks at all of them alike
///     diagonal       mean of w[i, i]
///     anti_diagonal  mean of w[i, n - 1 - i]
///     previous       mean of w[i, i - 1]
///
/// The last three are means over the cells that exist and are not masked: with more queries than
/// keys the queries behind have no cell on the diagonal, and the first has no previous key. There
/// is no mean where there is no such cell. Queries that may attend to nothing do not count.
struct AttentionStatistics {
  double entropy = 0, most_entropy = 0;
  std::optional<double> diagonal, anti_diagonal, previous;
};
AttentionStatistics attention_statistics(const AttentionMap& map);

/// A matrix of weights, row by row, for what shows it.
struct AttentionCells {
  std::int64_t queries = 0, keys = 0;
  std::vector<double> weights;
  std::vector<bool> masked;

  explicit AttentionCells(const AttentionMap& map);
  std::size_t place(std::int64_t query, std::int64_t key) const {
    return static_cast<std::size_t>(query * keys + key);
  }
  double weight(std::int64_t query, std::int64_t key) const { return weights[place(query, key)]; }
  bool is_masked(std::int64_t query, std::int64_t key) const { return masked[place(query, key)]; }
};

}  // namespace gradzoo::examples
