// What ops of two tensors, or of a tensor and a number, ask of their operands.
#pragma once

#include <cmath>

#include "core/create.h"
#include "core/tensor.h"

namespace gradzoo {

/// There is no promotion: mixed dtypes are an error.
inline void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), "{}: the dtypes must be equal, got {} and {}", op, a.dtype(),
        b.dtype());
}

/// Throws when an integer or boolean x meets a number that it cannot hold.
inline void check_number(const char* op, double value, const Tensor& x) {
  const bool fits = x.dtype() == DType::boolean
                        ? value == 0 || value == 1
                        : std::trunc(value) == value && std::abs(value) < 0x1p63;
  check(is_floating(x.dtype()) || fits, "{}: {} cannot be held by a tensor of {}", op, value,
        x.dtype());
}

/// The number as a tensor of x's dtype.
inline Tensor number_like(const char* op, double value, const Tensor& x) {
  check_number(op, value, x);
  return scalar(value, x.dtype());
}

}  // namespace gradzoo
