// Einstein summation.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

/// Einstein summation over one or two operands: "ij,jk->ik", "ii->", "bij->bji". A letter names an
/// axis; letters without a place in the result are summed over; a letter twice in one operand is
/// its diagonal. Without "->" the result has the letters that occur once, in alphabetical order
/// (capital ones first). "..." stands for the axes without letters, which broadcast, and so does an
/// extent of 1. f32 or f64. Throws naming the equation when it does not fit the operands.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace gradzoo
