// Attention masks. A boolean one selects: true = may attend. A float one is added to the scores,
// and -inf in it means may not attend.
//
// The number of its axes says what they are:
//
//     [queries, keys]                   one mask for the whole batch, as large as the scores
//     [batch, queries, keys]            for all heads; an extent of 1 holds for every row or query
//     [batch, heads, queries, keys]     likewise; without heads in the scores, heads must be 1
//
// So a mask is never taken for another one because two extents happen to be equal: padding_mask is
// [batch, 1, keys] and fits scores with and without heads, and a [batch, keys] of one's own has to
// become that by unsqueeze(mask, 1). What does not fit is an Error that names the axes of both.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// [batch, 1, max_len]: true at the first lengths[b] keys, for every query of row b. lengths: i64
/// [batch], each in [0, max_len], or an Error naming it.
Tensor padding_mask(const Tensor& lengths, std::int64_t max_len);

/// [queries, keys]: query i may see the keys up to its own place. With fewer queries than keys the
/// last query is aligned with the last key, as decoding step by step needs it.
Tensor causal_mask(std::int64_t queries, std::int64_t keys);
Tensor causal_mask(std::int64_t n);

/// [queries, keys], local attention: query i may see the keys at most w places from its own; the
/// last query is aligned with the last key. So w counts the neighbours on each side: 0 leaves a
/// token itself alone, n - 1 (or more) hides nothing. Throws unless w >= 0. With the causal mask:
/// itself and the w tokens before it.
Tensor window_mask(std::int64_t queries, std::int64_t keys, std::int64_t w);
Tensor window_mask(std::int64_t n, std::int64_t w);

/// Both masks in one, axis by axis as named above: two boolean ones by and, two float ones by
/// adding; of one of each, the float one with -inf where the boolean one is false. Undefined: the
/// other. Outside this namespace: using nn::operator&.
///
///     const Tensor mask = padding_mask(lengths, n) & causal_mask(n) & window_mask(n, 4);
Tensor operator&(const Tensor& a, const Tensor& b);

/// The mask as it broadcasts to scores of that shape, [queries, keys], [batch, queries, keys] or
/// [batch, heads, queries, keys]. An Error naming axes and shapes of both unless it fits as said
/// above and is boolean or has the dtype of the scores.
Tensor fit_mask(const char* op, const Tensor& mask, const Shape& scores, DType dtype);

/// Scores with a float mask added, and where they may be attended to.
struct Masked {
  Tensor scores;
  Tensor may_attend;  ///< boolean, broadcasts to the scores
};

/// A mask of either kind applied to scores; throws as fit_mask does. What is not in `may_attend`
/// must not count, whatever its score.
Masked apply_mask(const char* op, const Tensor& scores, const Tensor& mask);

/// Softmax of scores [..., queries, keys] under a mask of either kind (undefined: all may attend).
/// A query with nothing to attend to gives zeros and zero gradients.
Tensor attention_weights(const Tensor& scores, const Tensor& mask);

}  // namespace gradzoo::nn
