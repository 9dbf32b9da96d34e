// Attention masks. A boolean one selects: true = may attend. A float one is added to the scores,
// and -inf in it means may not attend.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// [batch, max_len]: true at the first lengths[b] places of row b. lengths: i64 [batch], each in
/// [0, max_len], or an Error naming it.
Tensor padding_mask(const Tensor& lengths, std::int64_t max_len);

/// [queries, keys]: query i may see the keys up to its own place. With fewer queries than keys the
/// last query is aligned with the last key.
Tensor causal_mask(std::int64_t queries, std::int64_t keys);
Tensor causal_mask(std::int64_t n);

/// [n, n], local attention: query i may see the keys j with |i - j| <= w. So w counts the
/// neighbours on each side: 0 leaves a token itself alone, n - 1 (or more) hides nothing. Throws
/// unless w >= 0. With causal_mask(n): itself and the w tokens before it.
Tensor window_mask(std::int64_t n, std::int64_t w);

/// Both masks in one, broadcast to each other: two boolean ones by and, two float ones by adding;
/// of one of each, the float one with -inf where the boolean one is false. Undefined: the other.
Tensor combine_masks(const Tensor& a, const Tensor& b);

/// An Error, naming the axes and shapes of both, unless the mask is boolean or has the dtype of the
/// scores, and can be broadcast to their shape: [batch, keys], [batch, queries, keys] or [batch,
/// heads, queries, keys]. A mask with fewer axes lacks the first ones, so padding_mask [batch,
/// keys] needs unsqueeze(mask, 1) for scores [batch, queries, keys].
void check_mask(const char* op, const Tensor& mask, const Tensor& scores);

/// Scores with a float mask added, and where they may be attended to.
struct Masked {
  Tensor scores;
  Tensor may_attend;  ///< boolean, broadcasts to the scores
};

/// A mask of either kind applied to scores; throws as check_mask does. What is not in `may_attend`
/// must not count, whatever its score.
Masked apply_mask(const char* op, const Tensor& scores, const Tensor& mask);

/// Softmax of scores [..., queries, keys] under a mask of either kind (undefined: all may attend).
/// A query with nothing to attend to gives zeros and zero gradients.
Tensor attention_weights(const Tensor& scores, const Tensor& mask);

}  // namespace gradzoo::nn
