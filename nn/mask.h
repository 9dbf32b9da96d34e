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

}  // namespace gradzoo::nn
