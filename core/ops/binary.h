// Elementwise functions of two tensors, broadcast to each other. Both must have one dtype.
#pragma once

#include "core/tensor.h"

namespace gradzoo {

// Arithmetic: f32, f64 and i64 (integers wrap; their division truncates, and by 0 it throws).
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
/// a^b, f32 or f64. Gradients at a = 0 follow the formula's limits: x^0 has 0, x^2 has 0.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, double exponent);
/// The larger; NaN if either is NaN. At a tie the gradient is shared evenly.
Tensor maximum(const Tensor& a, const Tensor& b);
/// The smaller; NaN if either is NaN. At a tie the gradient is shared evenly.
Tensor minimum(const Tensor& a, const Tensor& b);

// Comparisons, to boolean: any dtype with itself. NaN compares as in IEEE 754.
Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);

// Logic, boolean only.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& a);

/// a where the condition (boolean) holds, else b; all three broadcast. The backward selects too,
/// so nothing leaks from the branch not taken.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// x with `value` where the mask (boolean, broadcast to x) is true; no gradient flows there.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);

// With a number on one side: it takes the tensor's dtype, and throws when that cannot hold it.
Tensor operator+(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(const Tensor& a, double b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(const Tensor& a, double b);
Tensor operator/(double a, const Tensor& b);

// Comparisons with a number.
Tensor eq(const Tensor& a, double b);
Tensor ne(const Tensor& a, double b);
Tensor lt(const Tensor& a, double b);
Tensor le(const Tensor& a, double b);
Tensor gt(const Tensor& a, double b);
Tensor ge(const Tensor& a, double b);

}  // namespace gradzoo
