// Order along an axis.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// Values, and where they came from (i64). Gradients flow through the values.
struct Ordered {
  Tensor values;
  Tensor indices;
};

/// The k largest (or smallest) along the axis, best first. NaN is the largest; ties give the lower
/// index first. Throws unless 0 <= k <= extent.
Ordered topk(const Tensor& x, std::int64_t k, std::int64_t axis = -1, bool largest = true);

/// All values along the axis in order. Stable; NaN is the largest.
Ordered sort(const Tensor& x, std::int64_t axis = -1, bool descending = false);

}  // namespace gradzoo
