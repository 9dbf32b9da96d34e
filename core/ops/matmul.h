// Products of matrices, batches of them, and vectors. f32 or f64.
#pragma once

#include "core/tensor.h"

namespace gradzoo {

/// [..., n, k] x [..., k, m] -> [..., n, m], the leading axes broadcast. A vector on the left is a
/// row, on the right a column, and its axis vanishes from the result. k = 0 gives zeros.
Tensor matmul(const Tensor& a, const Tensor& b);

/// x W^T + bias: x [..., in], weight [out, in], bias [out] or undefined -> [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace gradzoo
