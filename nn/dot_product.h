// Scaled dot-product attention (Vaswani et al. 2017), for one head or many.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "nn/attend.h"

namespace gradzoo::nn {

struct DotProductOptions {
  double dropout = 0;  ///< of the weights
  double scale = 0;    ///< of the products; 0 stands for 1 / sqrt(d)
  double softcap = 0;  ///< c > 0: scores become c tanh(score / c) before the mask (Gemma 2)
};

/// softmax(q k^T / sqrt(d)) v: q [..., queries, d], k [..., keys, d], v [..., keys, e]
/// -> [..., queries, e]. `mask`: boolean (true = may attend) or float (added to the scores, -inf =
/// may not attend; it may require a gradient), of the shapes in nn/mask.h, or undefined: all may
/// attend. A query with nothing to attend to gives zeros.
///
/// k and v [batch, key_heads, ...] may have fewer heads than q [batch, heads, ...], if their number
/// divides it: heads i * (heads / key_heads) and on share key head i (grouped-query attention,
/// Ainslie et al. 2023).
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask = {}, const DotProductOptions& options = {});

/// The same output (as context), and the weights [..., queries, keys], before dropout.
Attended attend_by_dot_product(const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& mask = {}, const DotProductOptions& options = {});

/// Its scores before the mask: [..., queries, keys].
Tensor scaled_dot_product_scores(const Tensor& q, const Tensor& k,
                                 const DotProductOptions& options = {});

}  // namespace gradzoo::nn
