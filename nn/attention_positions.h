// Positions inside attention: schemes that any attention layer can hold, by type.
#pragma once

#include <cstdint>
#include <variant>

#include "core/tensor.h"
#include "nn/alibi.h"
#include "nn/attend.h"
#include "nn/relative.h"
#include "nn/rotary.h"

namespace gradzoo::nn {

/// None of its own: the order is in the embeddings, or does not matter.
struct NoPositions {};

/// Rotary positions turn queries and keys, ALiBi and relative ones change scores. All of them see
/// the last query at the place of the last key, so that decoding step by step needs no offset.
using AttentionPositions =
    std::variant<NoPositions, RotaryPositions, AlibiPositions, RelativePositions>;

/// Queries or keys [batch, heads, time, d] as the scheme compares them, the first token at place
/// `first`: turned by rotary positions, else as they are.
Tensor placed(const AttentionPositions& positions, const Tensor& x, std::int64_t first);

/// attend_by_dot_product of placed queries and keys, [batch, heads, time, d], under the scheme.
Attended attend_by_place(const AttentionPositions& positions, const Tensor& q, const Tensor& k,
                         const Tensor& v, const Tensor& mask = {}, double dropout = 0);

}  // namespace gradzoo::nn
