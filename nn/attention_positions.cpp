// Positions inside attention.
#include "nn/attention_positions.h"

#include "nn/dot_product.h"
#include "nn/mask.h"

namespace gradzoo::nn {

Tensor placed(const AttentionPositions& positions, const Tensor& x, std::int64_t first) {
  const auto* rotary = std::get_if<RotaryPositions>(&positions);
  return rotary == nullptr ? x : (*rotary)(x, first);
}

Attended attend_by_place(const AttentionPositions& positions, const Tensor& q, const Tensor& k,
                         const Tensor& v, const Tensor& mask, double dropout) {
  if (const auto* relative = std::get_if<RelativePositions>(&positions)) {
    return relative->with_weights(q, k, v, mask, dropout);
  }
  if (std::holds_alternative<AlibiPositions>(positions)) {
    const Shape scores{q.size(0), q.size(1), q.size(2), k.size(2)};
    Tensor biases = alibi_biases(scores[1], scores[2], scores[3], q.dtype());
    if (mask.defined()) biases = fit_mask("attention", mask, scores, q.dtype()) & biases;
    return attend_by_dot_product(q, k, v, biases, {.dropout = dropout});
  }
  return attend_by_dot_product(q, k, v, mask, {.dropout = dropout});
}

}  // namespace gradzoo::nn
