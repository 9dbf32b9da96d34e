// Upsampling is a view that repeats; a gate is two halves of a tensor.
#include "nn/pool.h"

#include "core/ops/binary.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

Tensor upsample_nearest2d(const Tensor& x, const HeightWidth& scale) {
  check(x.dim() == 4, "upsample_nearest2d: x must be [batch, channels, height, width], got {}",
        x.shape());
  check(scale.height >= 1 && scale.width >= 1,
        "upsample_nearest2d: the scale must be at least 1, got {} and {}", scale.height,
        scale.width);
  const Shape& s = x.shape();
  const Tensor apart = reshape(x, {s[0], s[1], s[2], 1, s[3], 1});
  const Tensor repeated = expand(apart, {s[0], s[1], s[2], scale.height, s[3], scale.width});
  return reshape(repeated, {s[0], s[1], s[2] * scale.height, s[3] * scale.width});
}

Tensor glu(const Tensor& x, std::int64_t axis) {
  const std::int64_t extent = x.size(axis);
  check(extent % 2 == 0, "glu: axis {} must have an even extent, got shape {}", axis, x.shape());
  return slice(x, axis, 0, extent / 2) * sigmoid(slice(x, axis, extent / 2));
}

}  // namespace gradzoo::nn
