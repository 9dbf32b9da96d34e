// Shapes: views onto the same memory where strides allow, copies elsewhere.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

/// The elements in row-major order under another shape; one extent may be -1 (worked out).
/// A view when the strides allow it.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis axes[i] of x.
Tensor permute(const Tensor& x, const Shape& axes);
/// Two axes swapped.
Tensor transpose(const Tensor& x, std::int64_t axis_a = -2, std::int64_t axis_b = -1);
/// Without its axes of extent 1.
Tensor squeeze(const Tensor& x);
/// Without this axis, whose extent must be 1.
Tensor squeeze(const Tensor& x, std::int64_t axis);
/// With a new axis of extent 1 before `axis` (negative: counted in the result).
Tensor unsqueeze(const Tensor& x, std::int64_t axis);
/// Stretched by broadcasting, without a copy; -1 keeps an extent.
Tensor expand(const Tensor& x, const Shape& shape);

/// The bound of a slice that runs to the end.
inline constexpr std::int64_t kEnd = INT64_MAX;
/// x[start:end:step] along the axis, as in Python: negative bounds count from the back, bounds
/// outside are cut. The step must be positive.
Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end = kEnd,
             std::int64_t step = 1);
/// One index of an axis, which vanishes. Throws when it is out of range.
Tensor select(const Tensor& x, std::int64_t axis, std::int64_t index);
/// Pieces of `size` along the axis; the last may be smaller.
std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis = 0);
/// Pieces of these sizes, which must add up to the extent.
std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes,
                          std::int64_t axis = 0);
/// The order along these axes reversed.
Tensor flip(const Tensor& x, const Shape& axes);

/// Joined along an existing axis.
Tensor concat(const std::vector<Tensor>& tensors, std::int64_t axis = 0);
/// Joined along a new axis.
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t axis = 0);
/// `value` added around x: one pair {before, after} per axis, for the last axes if there are fewer.
Tensor pad(const Tensor& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths,
           double value = 0);
/// [..., n, m] with zeros above diagonal `diagonal` (0: the main one, positive: further right).
Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
/// [..., n, m] with zeros below the diagonal.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

/// x itself when it is contiguous, else a contiguous copy.
Tensor contiguous(const Tensor& x);
/// A contiguous copy, with history.
Tensor clone(const Tensor& x);
/// Another dtype; the gradient is converted back. Floats to i64 truncate, throwing for what does
/// not fit; to boolean: not 0.
Tensor to(const Tensor& x, DType dtype);

/// Copies the numbers of `value` into the memory of `target` (same shape and dtype): for ops that
/// fill a fresh tensor, and for assign().
void copy_into(const Tensor& target, const Tensor& value);

}  // namespace gradzoo
