// Pooling, upsampling and gates: what stands between convolutions. Functions without parameters.
#pragma once

#include <cstdint>

#include "core/ops/pool.h"
#include "core/tensor.h"

namespace gradzoo::nn {

// Pooling is an op of the core.
using gradzoo::avg_pool1d;
using gradzoo::avg_pool2d;
using gradzoo::max_pool1d;
using gradzoo::max_pool2d;
using gradzoo::Pool1dOptions;
using gradzoo::PoolOptions;

/// Each element `scale` times along each axis: [batch, channels, height, width] -> [batch,
/// channels, height * scale.height, width * scale.width]. Throws unless the scale is at least 1.
Tensor upsample_nearest2d(const Tensor& x, const HeightWidth& scale);

/// a * sigmoid(b), where a and b are the halves of x along the axis (Dauphin et al. 2017). Throws
/// when its extent is odd.
Tensor glu(const Tensor& x, std::int64_t axis = -1);

}  // namespace gradzoo::nn
