// Softmax along one axis, plain, masked, and in logarithms.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// exp(x) / sum(exp(x)), shifted by the maximum. A row of -inf gives NaN, as the formula says; use
/// the masked form for rows that may have nothing to choose from.
Tensor softmax(const Tensor& x, std::int64_t axis = -1);
/// Softmax over the places where `mask` (boolean, broadcast to x) is true; 0 elsewhere, whatever x
/// is there. A row with nothing to choose from (the mask all false, or only -inf where it is true)
/// gives zeros and zero gradients. Throws when the mask cannot be broadcast to x's shape.
Tensor softmax(const Tensor& x, const Tensor& mask, std::int64_t axis = -1);
/// x - logsumexp(x). A row of -inf gives NaN, as the formula says.
Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);
/// log_softmax over the places where `mask` is true; -inf elsewhere, with zero gradients, and in
/// rows with nothing to choose from.
Tensor log_softmax(const Tensor& x, const Tensor& mask, std::int64_t axis = -1);

}  // namespace gradzoo
