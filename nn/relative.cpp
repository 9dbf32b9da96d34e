// Relative positions. There are far fewer distances than pairs of query and key: products are made
// with the vector of each distance once, and the pairs pick theirs.
#include "nn/relative.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/index.h"
#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/dot_product.h"
#include "nn/init.h"
#include "nn/mask.h"

namespace gradzoo::nn {

namespace {

// The row of each pair's distance in `table`, as an index shaped [..., queries, keys] like the
// scores.
Tensor rows_of_pairs(const Shape& scores, const Tensor& table) {
  const std::int64_t queries = scores[scores.rank() - 2], keys = scores[scores.rank() - 1];
  const std::int64_t max_distance = table.size(0) / 2;
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(queries * keys));
  for (std::int64_t i = keys - queries; i < keys; ++i) {  // the last query meets the last key
    for (std::int64_t j = 0; j < keys; ++j) {
      rows.push_back(max_distance + std::clamp(j - i, -max_distance, max_distance));
    }
  }
  return expand(from_vector(rows, {queries, keys}), scores);
}

Shape with_last(Shape shape, std::int64_t extent) {
  shape[shape.rank() - 1] = extent;
  return shape;
}

}  // namespace

RelativePositions::RelativePositions(std::int64_t max_distance, std::int64_t d, Rng& rng,
                                     const RelativePositionsOptions& options) {
  check(max_distance >= 0 && d >= 1,
        "RelativePositions: max_distance must not be negative and d at least 1, got {} and {}",
        max_distance, d);
  key_weight = init::xavier_uniform({2 * max_distance + 1, d}, rng);
  if (options.values) value_weight = init::xavier_uniform({2 * max_distance + 1, d}, rng);
}

Tensor RelativePositions::scores(const Tensor& q, std::int64_t keys) const {
  const std::int64_t d = key_weight.size(1);
  check(q.dim() >= 2 && q.size(-1) == d && keys >= 0,
        "RelativePositions: q must be [..., queries, {}] and keys not negative, got {} and {}", d,
        q.shape(), keys);
  const Tensor scaled = q * (1 / std::sqrt(static_cast<double>(d)));
  const Tensor by_distance = matmul(scaled, transpose(key_weight));  // [..., q, distances]
  return gather(by_distance, -1, rows_of_pairs(with_last(q.shape(), keys), key_weight));
}

Tensor RelativePositions::context(const Tensor& weights) const {
  check(value_weight.defined() && weights.dim() >= 2,
        "RelativePositions: the context needs distances in the values and weights [..., queries, "
        "keys], got {}",
        weights.shape());
  const Tensor none = zeros(with_last(weights.shape(), value_weight.size(0)), weights.dtype());
  const Tensor rows = rows_of_pairs(weights.shape(), value_weight);
  const Tensor by_distance = scatter_add(none, -1, rows, weights);  // [..., q, distances]
  return matmul(by_distance, value_weight);
}

Tensor RelativePositions::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Tensor& mask, double dropout) const {
  return with_weights(q, k, v, mask, dropout).context;
}

Attended RelativePositions::with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                         const Tensor& mask, double dropout) const {
  const Scope scope("RelativePositions");
  check(
      !value_weight.defined() || v.size(-1) == key_weight.size(1),
      "RelativePositions: v must be [..., keys, {}], as wide as the vectors of the distances, got "
      "{}",
      key_weight.size(1), v.shape());
  const Tensor pairs = scaled_dot_product_scores(q, k) + scores(q, k.size(-2));
  const Tensor weights = attention_weights(pairs, mask);
  const Tensor kept = gradzoo::dropout(weights, dropout);
  const Tensor out = weighted_sum(kept, v);  // [..., q, d]
  return {value_weight.defined() ? out + context(kept) : out, weights};
}

}  // namespace gradzoo::nn
