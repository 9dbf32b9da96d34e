// From attention scores to a context: masked, normalised, and the weighted sum of the values.
#pragma once

#include "core/tensor.h"

namespace gradzoo::nn {

/// What attention gives: the weighted sum of the values, and the weights.
struct Attended {
  Tensor context;
  Tensor weights;
};

/// How scores become weights: softmax, whose weights add up to 1, or relu (Zhang et al. 2021,
/// "Sparse attention with linear units"), whose weights need not and are exactly 0 where the score
/// is negative.
enum class Normalizer { softmax, relu };

/// Scores [batch, queries, keys] and values [batch, keys, d_v] -> context [batch, queries, d_v] and
/// weights shaped like the scores. Other leading axes, such as [batch, heads, ...], may stand where
/// batch stands. Scores [batch, keys], of a decoder step, are those of one query, and give a
/// context [batch, d_v].
///
/// `mask`: boolean or float, of the shapes in nn/mask.h. A query with nothing to attend to gets
/// zeros for context and weights, and zero gradients. Throws when shapes do not fit, naming them.
Attended attend(const Tensor& scores, const Tensor& values, const Tensor& mask = {},
                Normalizer normalizer = Normalizer::softmax);

/// Weights [..., queries, keys] times values [..., keys, d_v] -> [..., queries, d_v]. The values
/// may have fewer heads, shared by those of the weights. Throws when they do not fit otherwise.
Tensor weighted_sum(const Tensor& weights, const Tensor& values);

/// Grouped-query attention: x [batch, heads, queries, n] -> [batch, key_heads, heads / key_heads *
/// queries, n], the queries of all heads that share a key head as rows of one matrix, so that
/// nothing has to be copied for each head. `keys` [batch, key_heads, ...]. Throws unless key_heads
/// divides heads; x itself when they are equal or there is no axis of heads.
Tensor share_heads(const Tensor& x, const Tensor& keys);
/// The way back, to the heads and queries of `like` [batch, heads, queries, ...].
Tensor unshare_heads(const Tensor& x, const Tensor& like);

}  // namespace gradzoo::nn
