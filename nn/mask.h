// Attention masks, boolean: true = may attend. Combine them with logical_and, which broadcasts.
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

/// An Error, naming the axes and shapes of both, unless the mask is boolean and can be broadcast to
/// the shape of the scores: [batch, keys], [batch, queries, keys] or [batch, heads, queries, keys].
/// A mask with fewer axes lacks the first ones, so padding_mask [batch, keys] needs unsqueeze(mask,
/// 1) for scores [batch, queries, keys].
void check_mask(const char* op, const Tensor& mask, const Tensor& scores);

}  // namespace gradzoo::nn
