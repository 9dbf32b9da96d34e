// Making tensors from nothing: constants, ranges, nested values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

Tensor zeros(const Shape& shape, DType dtype = DType::f32);
Tensor ones(const Shape& shape, DType dtype = DType::f32);
/// Every element `value`. Throws when an integer or boolean tensor cannot hold it exactly.
Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, double value);
/// A tensor without axes.
Tensor scalar(double value, DType dtype = DType::f32);

/// start, start + step, … before `end` (after it for a negative step). Throws for step 0.
Tensor arange(double start, double end, double step = 1, DType dtype = DType::f32);
/// 0, 1, … before `end`.
Tensor arange(double end, DType dtype = DType::f32);
/// [n, m] (square without m): 1 on the diagonal.
Tensor eye(std::int64_t n, std::int64_t m = -1, DType dtype = DType::f32);

/// A number or a braced list of Nested of equal shapes: {{1, 2}, {3, 4}}.
class Nested {
 public:
  Nested(double value) : value_(value) {}  // NOLINT: a number is a nested value
  Nested(std::initializer_list<Nested> items) : items_(items), is_list_(true) {}

  /// Throws when the lists are ragged.
  Shape shape() const;
  void flatten_into(std::vector<double>& values) const;

 private:
  double value_ = 0;
  std::vector<Nested> items_;
  bool is_list_ = false;
};

/// tensor({{1, 2}, {3, 4}}): from nested values. Throws when ragged, and when an integer or
/// boolean tensor cannot hold a value exactly.
Tensor tensor(const Nested& values, DType dtype = DType::f32);

/// A copy of `values`, in row-major order. Throws when their number does not fit the shape.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape);

/// [..., num_classes]: 1 where the last index equals the id, else 0. ids: i64 in
/// [0, num_classes), or an error naming the id.
Tensor one_hot(const Tensor& ids, std::int64_t num_classes, DType dtype = DType::f32);

}  // namespace gradzoo
