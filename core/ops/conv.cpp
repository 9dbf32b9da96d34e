// Convolutions: three maps, each linear in both arguments, and each the gradient of the others, so
// derivatives of every order come free: convolved (y of x and weight), its adjoint for x
// (convolved_back) and its adjoint for the weight (correlated).
#include "core/ops/conv.h"

#include "core/kernels/blas.h"
#include "core/kernels/convolution.h"
#include "core/kernels/im2col.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/operands.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "core/ops/windows.h"

namespace gradzoo {
namespace {

// unfold, named after the op that it is part of in what it throws.
Tensor unfold_for(const char* op, const Tensor& x, const WindowOptions& options) {
  check(x.dim() == 4, "{}: x must be [batch, channels, height, width], got shape {}", op,
        x.shape());
  const Shape& in = x.shape();
  const kernels::Windows w = make_windows(op, in[0] * in[1], {in[2], in[3]}, options);
  const Shape columns{in[0], in[1] * w.kernel[0] * w.kernel[1], w.count[0] * w.count[1]};
  const auto one = [](const kernels::Windows::Two& two) { return two[0] == 1 && two[1] == 1; };
  if (one(w.kernel) && one(w.stride) && w.plane == w.count) return reshape(x, columns);
  const Tensor y = empty(columns, x.dtype());
  const Tensor packed = row_major(x);
  dispatch_floating(op, x.dtype(),
                    [&]<class T>() { kernels::unfold(w, packed.data<T>(), mutable_data<T>(y)); });
  return record(y,
                {"unfold", "x", "y = the windows of x as columns",
                 "dx = fold(dy): to where each was read, added up"},
                {x}, {}, [options](const BackwardContext& c) -> Grads {
                  return {fold(c.grad, {c.shape(0)[2], c.shape(0)[3]}, options)};
                });
}

void check_bias(const char* op, const Tensor& bias, std::int64_t out, const Tensor& weight) {
  if (!bias.defined()) return;
  check_same_dtype(op, bias, weight);
  check(bias.shape() == Shape{out},
        "{}: bias must have shape [{}] for a weight of shape {}, got {}", op, out, weight.shape(),
        bias.shape());
}

// Checks what conv2d and its adjoint both ask.
void check_operands(const char* op, const Tensor& x, const Tensor& weight, std::int64_t groups,
                    const char* weight_axes) {
  check(x.dim() == 4, "{}: x must be [batch, channels, height, width], got shape {}", op,
        x.shape());
  check(weight.dim() == 4, "{}: weight must be {}, got shape {}", op, weight_axes, weight.shape());
  check_same_dtype(op, x, weight);
  check(is_floating(x.dtype()), "{}: the tensors must be f32 or f64, got {}", op, x.dtype());
  check(groups >= 1 && x.size(1) % groups == 0 && weight.size(0) % groups == 0,
        "{}: {} groups must divide the channels of x and the first axis of weight, got shapes {} "
        "and {}",
        op, groups, x.shape(), weight.shape());
}

// Everything but the tensors.
struct Geometry {
  WindowOptions windows;
  std::int64_t groups;
  HeightWidth size;  // of the images
};

// Of maps between images of `channels` channels, of this size, and those with `outputs`.
kernels::Convolution convolution(const char* op, const Geometry& g, std::int64_t batch,
                                 std::int64_t channels, std::int64_t outputs) {
  check(kernels::blas_problem().empty(), "{}: {}", op, kernels::blas_problem());
  const kernels::Windows windows = make_windows(op, channels / g.groups, g.size, g.windows);
  const std::int64_t terms = windows.planes * windows.kernel[0] * windows.kernel[1];
  const std::int64_t places =
      std::max(windows.count[0] * windows.count[1], windows.plane[0] * windows.plane[1]);
  check(std::max({terms, places, outputs}) <= kLargestExtent,
        "{}: an image of {} x {} and a window of {} elements are too large", op, g.size.height,
        g.size.width, terms);
  return {windows, batch, g.groups, outputs / g.groups};
}

// kernel(plan, scratch) in the element type of `dtype`, with memory for the columns.
template <class Kernel>
void run(const char* op, const kernels::Convolution& c, DType dtype, Kernel kernel) {
  const auto plan = plan_of(c);
  const Tensor scratch = empty({plan.memory}, dtype);
  dispatch_floating(op, dtype, [&]<class T>() { kernel(plan, mutable_data<T>(scratch)); });
}

Tensor convolved_back(const char* op, const Tensor& y, const Tensor& weight, const Geometry& g);
Tensor correlated(const Tensor& x, const Tensor& y, const Geometry& g);

// x [batch, channels, size], weight [out, channels / groups, kernel] -> [batch, out, windows].
Tensor convolved(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const Geometry& g) {
  const auto c = convolution(op, g, x.size(0), x.size(1), weight.size(0));
  const Tensor image = row_major(x), w = row_major(weight);
  const Tensor b = bias.defined() ? row_major(bias) : bias;
  const Tensor y =
      empty({x.size(0), weight.size(0), c.windows.count[0], c.windows.count[1]}, x.dtype());
  run(op, c, x.dtype(), [&]<class T>(const auto& plan, T* scratch) {
    kernels::convolve(c, plan, image.data<T>(), w.data<T>(), b.defined() ? b.data<T>() : nullptr,
                      mutable_data<T>(y), scratch);
  });
  return record(y,
                {op, "x, w, b", "y = w unfold(x) + b, unfold(x) the windows of x as columns",
                 "dx = fold(w^T dy); dw = dy unfold(x)^T; db = sum of dy"},
                {x, weight, bias}, {x, weight}, [g](const BackwardContext& c) -> Grads {
                  Grads grads(3);
                  if (c.needs(0)) grads[0] = convolved_back("conv2d_input", c.grad, c.saved(1), g);
                  if (c.needs(1)) grads[1] = correlated(c.saved(0), c.grad, g);
                  if (c.needs(2)) grads[2] = sum(c.grad, {0, 2, 3});
                  return grads;
                });
}

// y [batch, out, windows], weight as above -> [batch, channels, size].
Tensor convolved_back(const char* op, const Tensor& y, const Tensor& weight, const Geometry& g) {
  const std::int64_t channels = weight.size(1) * g.groups;
  const auto c = convolution(op, g, y.size(0), channels, y.size(1));
  const Tensor packed = row_major(y), w = row_major(weight);
  const Tensor x = empty({y.size(0), channels, g.size.height, g.size.width}, y.dtype());
  run(op, c, y.dtype(), [&]<class T>(const auto& plan, T* scratch) {
    kernels::convolve_adjoint(c, plan, packed.data<T>(), w.data<T>(), mutable_data<T>(x), scratch);
  });
  return record(x,
                {op, "x, w", "y = fold(w^T x): each x adds w times itself to a window",
                 "dx = w unfold(dy); dw = x unfold(dy)^T"},
                {y, weight}, {y, weight}, [g](const BackwardContext& c) -> Grads {
                  Grads grads(2);
                  if (c.needs(0)) grads[0] = convolved("conv2d", c.grad, c.saved(1), {}, g);
                  if (c.needs(1)) grads[1] = correlated(c.grad, c.saved(0), g);
                  return grads;
                });
}

// x [batch, channels, size], y [batch, out, windows] -> [out, channels / groups, kernel].
Tensor correlated(const Tensor& x, const Tensor& y, const Geometry& g) {
  const char* const op = "conv2d_weight";
  const auto c = convolution(op, g, x.size(0), x.size(1), y.size(1));
  const Tensor image = row_major(x), packed = row_major(y);
  const HeightWidth& kernel = g.windows.kernel;
  const Tensor w = empty({y.size(1), x.size(1) / g.groups, kernel.height, kernel.width}, x.dtype());
  run(op, c, x.dtype(), [&]<class T>(const auto& plan, T* scratch) {
    kernels::convolve_weight(c, plan, image.data<T>(), packed.data<T>(), mutable_data<T>(w),
                             scratch);
  });
  return record(w,
                {op, "x, g", "y = g unfold(x)^T, unfold(x) the windows of x as columns",
                 "dx = fold(dy^T g); dg = dy unfold(x)"},
                {x, y}, {x, y}, [g](const BackwardContext& c) -> Grads {
                  Grads grads(2);
                  if (c.needs(0)) grads[0] = convolved_back("conv2d_input", c.saved(1), c.grad, g);
                  if (c.needs(1)) grads[1] = convolved("conv2d", c.saved(0), c.grad, {}, g);
                  return grads;
                });
}

// conv2d on behalf of `op`.
Tensor convolve(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const Conv2dOptions& o) {
  check_operands(op, x, weight, o.groups, "[out, channels / groups, kernel height, kernel width]");
  check(weight.size(1) * o.groups == x.size(1),
        "{}: x of shape {} has {} channels, but a weight of shape {} with {} groups wants {}", op,
        x.shape(), x.size(1), weight.shape(), o.groups, weight.size(1) * o.groups);
  check_bias(op, bias, weight.size(0), weight);
  const WindowOptions windows{{weight.size(2), weight.size(3)}, o.stride, o.padding, o.dilation};
  return convolved(op, x, weight, bias, {windows, o.groups, {x.size(2), x.size(3)}});
}

std::int64_t transposed_extent(std::int64_t n, std::int64_t kernel, std::int64_t stride,
                               std::int64_t padding, std::int64_t more, std::int64_t dilation) {
  return (n - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1;
}

}  // namespace

Tensor unfold(const Tensor& x, const WindowOptions& options) {
  return unfold_for("unfold", x, options);
}

Tensor fold(const Tensor& columns, const HeightWidth& size, const WindowOptions& options) {
  check(columns.dim() == 3, "fold: the columns must be [batch, channels * kernel, windows], got {}",
        columns.shape());
  check_option("fold", "the size", size, 0);
  kernels::Windows w = make_windows("fold", 0, size, options);
  const std::int64_t elements = w.kernel[0] * w.kernel[1];
  check(
      columns.size(1) % elements == 0 && columns.size(2) == w.count[0] * w.count[1],
      "fold: columns of shape {} are not [batch, channels * {}, {}], which images of {} x {} have",
      columns.shape(), elements, w.count[0] * w.count[1], size.height, size.width);
  const std::int64_t channels = columns.size(1) / elements;
  w.planes = columns.size(0) * channels;
  const Tensor x = empty({columns.size(0), channels, size.height, size.width}, columns.dtype());
  const Tensor packed = row_major(columns);
  dispatch_floating("fold", x.dtype(),
                    [&]<class T>() { kernels::fold(w, packed.data<T>(), mutable_data<T>(x)); });
  return record(x,
                {"fold", "x", "y = the columns x in their windows, added up where they overlap",
                 "dx = unfold(dy), the windows of dy as columns"},
                {columns}, {},
                [options](const BackwardContext& c) -> Grads { return {unfold(c.grad, options)}; });
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options) {
  check(x.dim() == 3, "conv1d: x must be [batch, channels, time], got shape {}", x.shape());
  check(weight.dim() == 3, "conv1d: weight must be [out, channels / groups, kernel], got shape {}",
        weight.shape());
  const Tensor y = convolve("conv1d", unsqueeze(x, 2), unsqueeze(weight, 2), bias,
                            {.stride = {1, options.stride},
                             .padding = {0, options.padding},
                             .dilation = {1, options.dilation},
                             .groups = options.groups});
  return squeeze(y, 2);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options) {
  return convolve("conv2d", x, weight, bias, options);
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& o) {
  const char* const op = "conv_transpose2d";
  check_operands(op, x, weight, o.groups, "[channels, out / groups, kernel height, kernel width]");
  check(x.size(1) == weight.size(0),
        "{}: x of shape {} and weight of shape {} must have the same number of channels", op,
        x.shape(), weight.shape());
  const WindowOptions options{.kernel = {weight.size(2), weight.size(3)},
                              .stride = o.stride,
                              .padding = o.padding,
                              .dilation = o.dilation};
  check_options(op, options);
  const HeightWidth& more = o.output_padding;
  check(more.height >= 0 && more.width >= 0 && more.height < o.stride.height &&
            more.width < o.stride.width,
        "{}: output_padding must be at least 0 and less than the stride, got {} and {}", op,
        more.height, more.width);
  const HeightWidth size{transposed_extent(x.size(2), weight.size(2), o.stride.height,
                                           o.padding.height, more.height, o.dilation.height),
                         transposed_extent(x.size(3), weight.size(3), o.stride.width,
                                           o.padding.width, more.width, o.dilation.width)};
  check(size.height >= 1 && size.width >= 1 && x.size(2) >= 1 && x.size(3) >= 1,
        "{}: x of shape {} and weight of shape {} with these options leave no output, got {} x {}",
        op, x.shape(), weight.shape(), size.height, size.width);
  const std::int64_t out = weight.size(1) * o.groups;
  check_bias(op, bias, out, weight);
  const Tensor y = convolved_back(op, x, weight, {options, o.groups, size});
  return bias.defined() ? y + reshape(bias, {out, 1, 1}) : y;
}

}  // namespace gradzoo
