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
  const Tensor weights = normalized(scores, mask, normalizer);
  if (!one_query) return {matmul(weights, values), weights};
  return {squeeze(matmul(unsqueeze(weights, -2), values), -2), weights};
}

}  // namespace gradzoo::nn
