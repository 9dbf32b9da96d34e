// From attention scores to a context.
#include "nn/attend.h"

#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/softmax.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "nn/mask.h"

namespace gradzoo::nn {

namespace {

Tensor normalized(const Tensor& scores, const Tensor& mask, Normalizer normalizer) {
  const bool exponential = normalizer == Normalizer::softmax;
  if (!mask.defined()) return exponential ? softmax(scores) : relu(scores);
  const Masked masked = apply_mask("attend", scores, mask);
  if (exponential) return softmax(masked.scores, masked.may_attend);
  // Selected, not multiplied: what is hidden may be infinite.
  return masked_fill(relu(masked.scores), logical_not(masked.may_attend), 0);
}

// The batch and the keys of scores and values are the same.
bool fit(const Tensor& scores, const Tensor& values, bool one_query) {
  if (values.dim() < 3 || scores.dim() != values.dim() - (one_query ? 1 : 0)) return false;
  const Shape batch = scores.shape().sub(0, scores.dim() - (one_query ? 1 : 2));
  return batch == values.shape().sub(0, values.dim() - 2) && scores.size(-1) == values.size(-2);
}

}  // namespace

Attended attend(const Tensor& scores, const Tensor& values, const Tensor& mask,
                Normalizer normalizer) {
  const bool one_query = scores.dim() < values.dim();
  check(fit(scores, values, one_query),
        "attend: scores must be [batch, queries, keys] or [batch, keys] and values [batch, keys, "
        "d_v], got {} and {}",
        scores.shape(), values.shape());
  if (one_query) {
    const Attended row = attend(unsqueeze(scores, -2), values, mask, normalizer);
    return {squeeze(row.context, -2), squeeze(row.weights, -2)};
  }
  const Tensor weights = normalized(scores, mask, normalizer);
  return {matmul(weights, values), weights};
}

Tensor weighted_sum(const Tensor& weights, const Tensor& values) {
  const int rank = values.dim(), same = rank == 4 ? 1 : rank - 2;
  check(rank >= 2 && rank == weights.dim() && values.size(-2) == weights.size(-1) &&
            values.shape().sub(0, same) == weights.shape().sub(0, same),
        "attention: values must be [..., keys, d_v] for weights [..., queries, keys], got {} and "
        "{}",
        values.shape(), weights.shape());
  return unshare_heads(matmul(share_heads(weights, values), values), weights);
}

Tensor share_heads(const Tensor& x, const Tensor& keys) {
  if (x.dim() != 4 || keys.dim() != 4 || x.size(1) == keys.size(1)) return x;
  const std::int64_t heads = x.size(1), shared = keys.size(1);
  check(shared >= 1 && heads % shared == 0,
        "attention: the heads of keys and values must divide those of the queries, got {} and {}",
        shared, heads);
  return reshape(x, {x.size(0), shared, heads / shared * x.size(2), x.size(3)});
}

Tensor unshare_heads(const Tensor& x, const Tensor& like) {
  if (x.dim() != 4 || x.size(1) == like.size(1)) return x;
  return reshape(x, {like.size(0), like.size(1), like.size(2), x.size(3)});
}

}  // namespace gradzoo::nn
