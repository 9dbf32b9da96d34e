// Einstein summation.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

/// Einstein summation over one or two operands, f32 or f64: "ij,jk->ik", "ii->", "bij->bji". A
/// letter names an axis; what is not in the result is summed over; a letter twice in one operand
/// takes its diagonal. Without "->" the result has the letters that occur once, in alphabetical
/// order, capitals first. "..." stands for the axes without a letter, aligned at the last; they
/// broadcast, and so do lettered axes of extent 1. Throws, naming the equation, when it does not
/// fit.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace gradzoo
