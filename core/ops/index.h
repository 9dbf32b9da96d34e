// Picking by index and adding by index. Indices are i64; negative ones count from the back, others
// outside the extent are an error naming index and extent.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// Rows of weight [num, dim] for ids [...] -> [..., dim]. Repeated ids add up in the gradient; the
/// row `padding_idx` (none when negative) gets none. Ids must be in [0, num).
Tensor embedding(const Tensor& weight, const Tensor& ids, std::int64_t padding_idx = -1);
/// The indices (1-d) along one axis, which gets their number as extent.
Tensor index_select(const Tensor& x, std::int64_t axis, const Tensor& index);
/// out[i][j] = x[i][index[i][j]] (axis 1): shaped like index, which is no larger than x along the
/// other axes.
Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index);
/// x with src added at the places gather would read: out[i][index[i][j]] += src[i][j] (axis 1),
/// in row-major order of src. Integers too; index and src have one shape.
Tensor scatter_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& src);

}  // namespace gradzoo
