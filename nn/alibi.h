// Attention with linear biases (ALiBi): no positions in the embeddings, but scores that fall with
// the distance of query and key (Press et al. 2022).
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// [heads] f64: 2^(-8 i / heads) for i = 1, …, heads when heads is a power of two. Otherwise, as in
/// the authors' code, those of the next lower power of two, then every other one of twice as many:
/// the first, the third, … .
Tensor alibi_slopes(std::int64_t heads);

/// [1, heads, queries, keys]: -slope * |distance|, a float mask. With fewer queries than keys the
/// last query is aligned with the last key. It hides nothing: a decoder combines it with its causal
/// mask.
///
///     const Tensor mask = causal_mask(n, m) & alibi_biases(heads, n, m);
Tensor alibi_biases(std::int64_t heads, std::int64_t queries, std::int64_t keys,
                    DType dtype = DType::f32);

/// Positions of an attention layer: alibi_biases for its heads (see nn/attention_positions.h).
struct AlibiPositions {};

}  // namespace gradzoo::nn
