// Entropy, and how much weight lies on three diagonals.
#include "examples/common/attention_statistics.h"

#include <cmath>

#include "core/ops.h"

namespace gradzoo::examples {
namespace {

// Mean weight of the cells (i, key_of(i)) that exist and are not masked.
template <class KeyOf>
std::optional<double> mean_on(const AttentionCells& cells, const KeyOf& key_of) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t query = 0; query < cells.queries; ++query) {
    const std::int64_t key = key_of(query);
    if (key < 0 || key >= cells.keys || cells.is_masked(query, key)) continue;
    sum += cells.weight(query, key);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace

AttentionCells::AttentionCells(const AttentionMap& map)
    : queries(map.weights.size(0)),
      keys(map.weights.size(1)),
      weights(to(map.weights, DType::f64).to_vector<double>()) {
  for (const double may : to(map.may_attend, DType::f64).to_vector<double>()) {
    masked.push_back(may == 0);
  }
}

AttentionStatistics attention_statistics(const AttentionMap& map) {
  const AttentionCells cells(map);
  AttentionStatistics all;
  std::int64_t counted = 0;
  for (std::int64_t query = 0; query < cells.queries; ++query) {
    double entropy = 0;
    std::int64_t allowed = 0;
    for (std::int64_t key = 0; key < cells.keys; ++key) {
      if (cells.is_masked(query, key)) continue;
      ++allowed;
      const double w = cells.weight(query, key);
      if (w > 0) entropy -= w * std::log(w);
    }
    if (allowed == 0) continue;
    ++counted;
    all.entropy += entropy;
    all.most_entropy += std::log(static_cast<double>(allowed));
  }
  if (counted > 0) {
    all.entropy /= static_cast<double>(counted);
    all.most_entropy /= static_cast<double>(counted);
  }
  const std::int64_t last = cells.keys - 1;
  all.diagonal = mean_on(cells, [](std::int64_t i) { return i; });
  all.anti_diagonal = mean_on(cells, [last](std::int64_t i) { return last - i; });
  all.previous = mean_on(cells, [](std::int64_t i) { return i - 1; });
  return all;
}

}  // namespace gradzoo::examples
