// Scaled dot-product attention.
#include "nn/dot_product.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/matmul.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "nn/mask.h"

namespace gradzoo::nn {

namespace {

// One width, and the same batch; heads (of [batch, heads, ...]) may differ, see share_heads.
bool fit(const Tensor& q, const Tensor& k) {
  if (q.dim() < 2 || q.dim() != k.dim() || q.size(-1) != k.size(-1)) return false;
  const int same = q.dim() == 4 ? 1 : q.dim() - 2;
  return q.shape().sub(0, same) == k.shape().sub(0, same);
}

}  // namespace

Tensor scaled_dot_product_scores(const Tensor& q, const Tensor& k,
                                 const DotProductOptions& options) {
  check(fit(q, k),
        "scaled_dot_product_attention: q must be [..., queries, d] and k [..., keys, d], got {} "
        "and {}",
        q.shape(), k.shape());
  const double scale =
      options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor products = matmul(share_heads(q * scale, k), transpose(k));
  const Tensor scores = unshare_heads(products, q);  // [..., queries, keys]
  return options.softcap == 0 ? scores : options.softcap * tanh(scores / options.softcap);
}

Attended attend_by_dot_product(const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& mask, const DotProductOptions& options) {
  const Tensor weights = attention_weights(scaled_dot_product_scores(q, k, options), mask);
  return {weighted_sum(dropout(weights, options.dropout), v), weights};
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask, const DotProductOptions& options) {
  return attend_by_dot_product(q, k, v, mask, options).context;
}

}  // namespace gradzoo::nn
