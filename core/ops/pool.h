// Pooling: one number for each window of an image, without parameters. f32 or f64.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ops/conv.h"
#include "core/tensor.h"

namespace gradzoo {

struct PoolOptions {
  HeightWidth kernel;
  /// None: that of the kernel, so that windows do not overlap.
  std::optional<HeightWidth> stride = {};
  HeightWidth padding = 0;  ///< at most half the kernel
  HeightWidth dilation = 1;
  /// avg_pool: the zeros of the padding count (as in PyTorch); else the mean is of what lies
  /// inside.
  bool count_padding = true;
  /// What is left over at the end is one more window, if it begins inside the image or the padding
  /// before it. In a mean it counts as far as the padding goes.
  bool ceil = false;
};

/// The largest element of each window: [batch, channels, height, width] -> [batch, channels,
/// windows down, windows across]; the padding is never chosen. NaN counts as the largest; ties
/// share the gradient evenly, as in max (PyTorch gives all of it to the first).
Tensor max_pool2d(const Tensor& x, const PoolOptions& options);
/// The mean of each window.
Tensor avg_pool2d(const Tensor& x, const PoolOptions& options);

struct Pool1dOptions {
  std::int64_t kernel;
  std::optional<std::int64_t> stride = {};
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  bool count_padding = true;
  bool ceil = false;
};

/// [batch, channels, time] -> [batch, channels, windows].
Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options);
Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options);

}  // namespace gradzoo
