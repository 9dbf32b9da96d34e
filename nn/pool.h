// Pooling, upsampling and gates: what stands between convolutions. Functions without parameters.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ops/conv.h"
#include "core/tensor.h"

namespace gradzoo::nn {

struct PoolOptions {
  HeightWidth kernel;
  std::optional<HeightWidth> stride =
      {};                   ///< none: that of the kernel, so that windows do not overlap
  HeightWidth padding = 0;  ///< at most half the kernel
  HeightWidth dilation = 1;
  /// avg_pool: the zeros of the padding count (as in PyTorch); else the mean is of what lies
  /// inside.
  bool count_padding = true;
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
};

/// [batch, channels, time] -> [batch, channels, windows].
Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options);
Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options);

/// Each element `scale` times along each axis: [batch, channels, height, width] -> [batch,
/// channels, height * scale.height, width * scale.width]. Throws unless the scale is at least 1.
Tensor upsample_nearest2d(const Tensor& x, const HeightWidth& scale);

/// a * sigmoid(b), where a and b are the halves of x along the axis (Dauphin et al. 2017). Throws
/// when its extent is odd.
Tensor glu(const Tensor& x, std::int64_t axis = -1);

}  // namespace gradzoo::nn
