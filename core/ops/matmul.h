// Products: matrices, batches of them, vectors, and Einstein summation.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

/// [..., n, k] x [..., k, m] -> [..., n, m], the leading axes broadcast. A vector on the left is a
/// row, on the right a column, and its axis vanishes from the result. f32 or f64.
Tensor matmul(const Tensor& a, const Tensor& b);

/// x W^T + bias: x [..., in], weight [out, in], bias [out] or undefined -> [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Einstein summation over one or two operands: "ij,jk->ik", "ii->", "bij->bji". Without "->" the
/// result has the letters that occur once, in alphabetical order. "..." stands for broadcast axes.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace gradzoo
