// ONNX's convolutions and pooling in terms of ours. Images of one axis get a second of extent 1.
#include <limits>

#include "tests/core/onnx_cases.h"

namespace gradzoo::test {
namespace {

// Single cases that cannot be run, and why.
const OnnxReasons kNotApplicable = {
    {"averagepool_2d_ceil_last_window_starts_on_pad", "recorded with four digits only"},
    {"averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True", "three axes"},
    {"convtranspose_3d", "three axes"},
    {"maxpool_3d_default", "three axes"},
    {"maxpool_3d_dilations_use_ref_impl", "three axes"},
    {"maxpool_3d_dilations_use_ref_impl_large", "three axes"},
    {"maxpool_with_argmax_2d_precomputed_pads", "no positions beside the values"},
    {"maxpool_with_argmax_2d_precomputed_strides", "no positions beside the values"},
};

bool is_row(const OnnxCase& c) { return c.in(0).dim() == 3; }

Tensor as_image(const Tensor& x) { return x.dim() == 3 ? unsqueeze(x, 2) : x; }

Tensors as_case(const OnnxCase& c, const Tensor& y) { return {is_row(c) ? squeeze(y, 2) : y}; }

// An attribute with one number for each axis; `otherwise` where it is not given.
HeightWidth along_axes(const OnnxCase& c, const char* attr, std::int64_t otherwise) {
  if (!c.has(attr)) return otherwise;
  const auto values = c.attrs.at(attr).get<std::vector<std::int64_t>>();
  if (values.size() == 1) return {otherwise, values[0]};
  return {values.at(0), values.at(1)};
}

// What is put before and after one axis, from pads or auto_pad.
struct Padding {
  std::int64_t before, after;
};

Padding padding_of(const OnnxCase& c, int axis, std::int64_t kernel) {
  const std::int64_t extent = as_image(c.in(0)).size(axis + 2);
  const HeightWidth strides = along_axes(c, "strides", 1);
  const std::int64_t stride = axis == 0 ? strides.height : strides.width;
  const std::string kind = c.text("auto_pad", "NOTSET");
  if (kind == "SAME_UPPER" || kind == "SAME_LOWER") {
    const std::int64_t windows = (extent + stride - 1) / stride;
    const std::int64_t all = std::max<std::int64_t>((windows - 1) * stride + kernel - extent, 0);
    const std::int64_t less = all / 2;
    return kind == "SAME_UPPER" ? Padding{less, all - less} : Padding{all - less, less};
  }
  if (!c.has("pads") || (is_row(c) && axis == 0)) return {0, 0};
  const auto pads = c.attrs.at("pads").get<std::vector<std::int64_t>>();
  const std::size_t at = is_row(c) ? 0 : static_cast<std::size_t>(axis);
  return {pads.at(at), pads.at(at + pads.size() / 2)};
}

// The image and the padding left to the op: none of it when the sides differ, or when it is more
// than the op takes, for then it is put around the image here.
struct Padded {
  Tensor x;
  HeightWidth padding;
};

Padded padded(const OnnxCase& c, const HeightWidth& kernel, const HeightWidth& most, double value) {
  const Padding rows = padding_of(c, 0, kernel.height), cols = padding_of(c, 1, kernel.width);
  const Tensor x = as_image(c.in(0));
  if (rows.before == rows.after && cols.before == cols.after && rows.before <= most.height &&
      cols.before <= most.width) {
    return {x, {rows.before, cols.before}};
  }
  return {pad(x, {{rows.before, rows.after}, {cols.before, cols.after}}, value), 0};
}

Tensors convolved(const OnnxCase& c) {
  const Tensor weight = as_image(c.in(1));
  const HeightWidth kernel{weight.size(2), weight.size(3)};
  const Padded in = padded(c, kernel, 1000, 0);
  return as_case(c, conv2d(in.x, weight, c.has_input(2) ? c.in(2) : Tensor(),
                           {.stride = along_axes(c, "strides", 1),
                            .padding = in.padding,
                            .dilation = along_axes(c, "dilations", 1),
                            .groups = c.integer("group", 1)}));
}

Tensors convolved_back(const OnnxCase& c) {
  return as_case(
      c, conv_transpose2d(as_image(c.in(0)), as_image(c.in(1)), c.has_input(2) ? c.in(2) : Tensor(),
                          {.stride = along_axes(c, "strides", 1),
                           .padding = {padding_of(c, 0, 0).before, padding_of(c, 1, 0).before},
                           .output_padding = along_axes(c, "output_padding", 0),
                           .dilation = along_axes(c, "dilations", 1),
                           .groups = c.integer("group", 1)}));
}

template <class Pool>
Tensor pooled(const OnnxCase& c, Pool pool, double outside) {
  const HeightWidth kernel = along_axes(c, "kernel_shape", 1);
  const Padded in = padded(c, kernel, {kernel.height / 2, kernel.width / 2}, outside);
  return pool(in.x, {.kernel = kernel,
                     .stride = along_axes(c, "strides", 1),
                     .padding = in.padding,
                     .dilation = along_axes(c, "dilations", 1),
                     .count_padding = c.integer("count_include_pad", 0) != 0,
                     .ceil = c.integer("ceil_mode", 0) != 0});
}

Tensors maxima(const OnnxCase& c) {
  OnnxCase floats = c;
  floats.inputs[0] = is_floating(c.in(0).dtype()) ? c.in(0) : to(c.in(0), DType::f32);
  const Tensor y = pooled(floats, max_pool2d, -std::numeric_limits<double>::infinity());
  return as_case(c, to(y, c.in(0).dtype()));
}

// Where the padding was put around the image here, the mean counts it: divided by the mean of ones
// it does not.
Tensors means(const OnnxCase& c) {
  const Tensor y = pooled(c, avg_pool2d, 0);
  if (c.integer("count_include_pad", 0) != 0) return as_case(c, y);
  OnnxCase one = c;
  one.inputs[0] = ones_like(c.in(0));
  return as_case(c, y / pooled(one, avg_pool2d, 0));
}

}  // namespace

OnnxFamily onnx_conv_ops() {
  OnnxOps ops;
  ops["Conv"] = convolved;
  ops["ConvTranspose"] = convolved_back;
  ops["MaxPool"] = maxima;
  ops["AveragePool"] = means;
  return {ops, kNotApplicable};
}

}  // namespace gradzoo::test
