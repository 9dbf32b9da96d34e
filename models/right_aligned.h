// Sequences at the right of their room, for models that go on writing where they end: what is
// appended then stands at one place in all rows, and the places before a short sequence are hidden.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::models {

struct RightAligned {
  Tensor ids;      ///< [batch, time]; anything before a row's first token
  Tensor padding;  ///< i64 [batch]: places before the first token; undefined: none in any row
};

/// source [batch, time] with its first lengths[b] tokens in use (i64 [batch]) -> the same tokens at
/// the right. Throws for shapes that do not fit and for a length outside [0, time].
RightAligned align_right(const Tensor& source, const Tensor& lengths);

/// Boolean [batch, 1, keys], a mask: true at the tokens among the first `keys` places. Undefined
/// when there is no padding.
Tensor real_tokens(const Tensor& padding, std::int64_t keys);

/// i64 [batch, time]: the place of each token in its own sequence, for the columns from `first` on
/// (0 before the first token).
Tensor own_places(const Tensor& padding, std::int64_t first, std::int64_t time);

}  // namespace gradzoo::models
