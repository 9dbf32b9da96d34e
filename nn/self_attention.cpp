// Self-attention: queries, keys, values; scores; softmax; weighted sum.
#include "nn/self_attention.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/mask.h"

namespace gradzoo::nn {

SelfAttention::SelfAttention(std::int64_t width, std::int64_t d, Rng& rng)
    : q_proj(width, d, rng), k_proj(width, d, rng), v_proj(width, d, rng) {}

Attended SelfAttention::operator()(const Tensor& x, const Tensor& mask) const {
  const Scope scope("SelfAttention");
  check(x.dim() == 3, "SelfAttention: x must be [batch, time, width], got {}", x.shape());

  // 1. Each token's query, key and value.
  const Tensor q = q_proj(x);  // [b, t, d]
  const Tensor k = k_proj(x);  // [b, t, d]
  const Tensor v = v_proj(x);  // [b, t, d]

  // 2. How well each key answers each query. A sum of d products grows like sqrt(d): divided by
  //    it, scores keep their size and softmax its gradients, however wide the head is.
  const double d = static_cast<double>(q.size(-1));
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(d);  // [b, t, t]

  // 3. Softmax: each row of scores becomes weights that add up to 1, over what the mask shows.
  const Tensor weights = attention_weights(scores, mask);  // [b, t, t]

  // 4. Each token takes the values in those parts.
  return {matmul(weights, v), weights};
}

}  // namespace gradzoo::nn
