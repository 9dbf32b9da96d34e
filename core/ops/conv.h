// Convolutions: the windows of the input as columns of a matrix (unfold), times the weight. f32 or
// f64. As everywhere in deep learning the kernel is not flipped (cross-correlation).
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// One number for height and width, or one for each.
struct HeightWidth {
  HeightWidth(std::int64_t both) : height(both), width(both) {}
  HeightWidth(std::int64_t height, std::int64_t width) : height(height), width(width) {}
  std::int64_t height, width;
};

/// How windows lie on an image: the first begins `padding` before it, each `stride` after the one
/// before; the elements of one are `dilation` apart. An axis of extent n has
/// floor((n + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 of them, which must be at
/// least 1; what is left over at the end is not read.
struct WindowOptions {
  HeightWidth kernel;
  HeightWidth stride = 1;
  HeightWidth padding = 0;
  HeightWidth dilation = 1;
};

/// The windows of each image as columns (im2col): x [batch, channels, height, width] ->
/// [batch, channels * kernel height * kernel width, windows]; zeros outside of the image.
Tensor unfold(const Tensor& x, const WindowOptions& options);
/// The adjoint (col2im): columns, as unfold makes them from images of this size, are added up where
/// they overlap -> [batch, channels, size.height, size.width].
Tensor fold(const Tensor& columns, const HeightWidth& size, const WindowOptions& options);

struct Conv1dOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< zeros on both sides
  std::int64_t dilation = 1;
  std::int64_t groups = 1;  ///< the channels are cut into so many parts that do not meet
};

struct Conv2dOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;
  HeightWidth dilation = 1;
  std::int64_t groups = 1;
};

struct ConvTranspose2dOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;         ///< cut off on all sides
  HeightWidth output_padding = 0;  ///< further rows and columns at the end; less than the stride
  HeightWidth dilation = 1;
  std::int64_t groups = 1;
};

/// y[b, o, t] = bias[o] + sum over c, i of weight[o, c, i] x[b, c, t stride - padding + i
/// dilation]: x [batch, channels, time], weight [out, channels / groups, kernel], bias [out] or
/// undefined -> [batch, out, windows]. Throws when shapes do not fit and when there is no room for
/// one window.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});

/// The same over two axes: x [batch, channels, height, width], weight [out, channels / groups,
/// kernel height, kernel width] -> [batch, out, windows down, windows across].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

/// The adjoint of conv2d: each element of x [batch, channels, height, width] adds weight [channels,
/// out / groups, kernel height, kernel width], times itself, to its window -> [batch, out, h, w]
/// with h = (height - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose2dOptions& options = {});

}  // namespace gradzoo
