// Pooling is a reduction over the windows that unfold lays out.
#include "nn/pool.h"

#include <limits>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo::nn {
namespace {

// x is checked here, kernel and stride by unfold.
WindowOptions windows_of(const char* op, const Tensor& x, const PoolOptions& o) {
  check(x.dim() == 4, "{}: x must be [batch, channels, height, width], got shape {}", op,
        x.shape());
  check(is_floating(x.dtype()), "{}: x must be f32 or f64, got {}", op, x.dtype());
  check(o.padding.height >= 0 && o.padding.width >= 0 && o.padding.height <= o.kernel.height / 2 &&
            o.padding.width <= o.kernel.width / 2,
        "{}: the padding must be at most half the kernel of {} x {}, got {} x {}", op,
        o.kernel.height, o.kernel.width, o.padding.height, o.padding.width);
  return {o.kernel, o.stride.value_or(o.kernel), o.padding, o.dilation};
}

// unfold with the elements of a window on an axis of their own, the third.
Tensor windows(const Tensor& x, const WindowOptions& o) {
  const Tensor columns = unfold(x, o);
  return reshape(columns,
                 {x.size(0), x.size(1), o.kernel.height * o.kernel.width, columns.size(2)});
}

std::int64_t count(std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                   std::int64_t dilation) {
  return (n + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

// [batch, channels, windows] -> [batch, channels, windows down, windows across].
Tensor as_image(const Tensor& y, const Tensor& x, const WindowOptions& o) {
  return reshape(
      y, {x.size(0), x.size(1),
          count(x.size(2), o.kernel.height, o.stride.height, o.padding.height, o.dilation.height),
          count(x.size(3), o.kernel.width, o.stride.width, o.padding.width, o.dilation.width)});
}

PoolOptions as_pool2d(const Pool1dOptions& o) {
  return {.kernel = {1, o.kernel},
          .stride = HeightWidth{1, o.stride.value_or(o.kernel)},
          .padding = {0, o.padding},
          .dilation = {1, o.dilation},
          .count_padding = o.count_padding};
}

Tensor as_row(const char* op, const Tensor& x) {
  check(x.dim() == 3, "{}: x must be [batch, channels, time], got shape {}", op, x.shape());
  return unsqueeze(x, 2);
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const PoolOptions& options) {
  const WindowOptions o = windows_of("max_pool2d", x, options);
  const auto [height, width] = o.padding;
  WindowOptions inside = o;  // the padding is here already, as numbers that are never the largest
  inside.padding = 0;
  const Tensor padded = height == 0 && width == 0 ? x
                                                  : pad(x, {{height, height}, {width, width}},
                                                        -std::numeric_limits<double>::infinity());
  return as_image(max(windows(padded, inside), {2}), x, o);
}

Tensor avg_pool2d(const Tensor& x, const PoolOptions& options) {
  const WindowOptions o = windows_of("avg_pool2d", x, options);
  const Tensor columns = windows(x, o);
  if (options.count_padding) return as_image(mean(columns, {2}), x, o);
  const Tensor inside = sum(windows(ones({1, 1, x.size(2), x.size(3)}, x.dtype()), o), {2});
  return as_image(sum(columns, {2}) / inside, x, o);
}

Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options) {
  return squeeze(max_pool2d(as_row("max_pool1d", x), as_pool2d(options)), 2);
}

Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options) {
  return squeeze(avg_pool2d(as_row("avg_pool1d", x), as_pool2d(options)), 2);
}

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
