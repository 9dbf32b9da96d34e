// Numbers of lessons: drawn so that they are short to read, and shown in tables.
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"
#include "examples/common/walk/lesson.h"

namespace gradzoo::examples {

/// Normal numbers in f64, rounded to one decimal.
Tensor short_normal(const Shape& shape, Rng& rng);
/// The same as a leaf that wants a gradient.
Tensor short_leaf(const Shape& shape, Rng& rng);
/// Rounds every number to so many decimals. The tensor must not have a history.
Tensor rounded(const Tensor& x, int decimals);
/// Rounds each of them in place.
void round_in_place(const Names& tensors, int decimals);
/// Sets their gradients back to none, so that they can be walked again.
void forget_gradients(const Names& tensors);

/// The 2-norm of all elements.
double size_of(const Tensor& x);

/// "0.125" with three digits.
std::string fixed(double value, int digits);
/// The numbers [rows, columns] of a matrix with names at both sides; `corner` stands over the rows.
WalkTable grid(const std::string& corner, const std::vector<std::string>& rows,
               const std::vector<std::string>& columns, const Tensor& numbers);

}  // namespace gradzoo::examples
