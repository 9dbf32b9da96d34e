// Pooling. A maximum keeps x and y and looks for the places again, once it is asked for a gradient;
// a mean is a convolution by a constant.
#include "core/ops/pool.h"

#include "core/create.h"
#include "core/kernels/pool.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/view.h"
#include "core/ops/windows.h"

namespace gradzoo {
namespace {

// One more window where something is left over, unless it begins in the padding at the end.
void round_up(kernels::Windows& w, std::size_t axis) {
  const std::int64_t reach = w.dilation[axis] * (w.kernel[axis] - 1) + 1;
  const std::int64_t read = (w.count[axis] - 1) * w.stride[axis] + reach;
  const bool left_over = read < w.plane[axis] + 2 * w.padding[axis];
  if (left_over && w.count[axis] * w.stride[axis] < w.plane[axis] + w.padding[axis]) {
    ++w.count[axis];
  }
}

kernels::Windows pool_windows(const char* op, const Tensor& x, const PoolOptions& o) {
  check(x.dim() == 4, "{}: x must be [batch, channels, height, width], got shape {}", op,
        x.shape());
  check(is_floating(x.dtype()), "{}: x must be f32 or f64, got {}", op, x.dtype());
  check(o.padding.height >= 0 && o.padding.width >= 0 && o.padding.height <= o.kernel.height / 2 &&
            o.padding.width <= o.kernel.width / 2,
        "{}: the padding must be at most half the kernel of {} x {}, got {} x {}", op,
        o.kernel.height, o.kernel.width, o.padding.height, o.padding.width);
  const WindowOptions windows{o.kernel, o.stride.value_or(o.kernel), o.padding, o.dilation};
  kernels::Windows w = make_windows(op, x.size(0) * x.size(1), {x.size(2), x.size(3)}, windows);
  for (const std::size_t axis : {0, 1}) {
    if (o.ceil) round_up(w, axis);
  }
  return w;
}

// z [batch, channels, windows], from each window to the places of x that hold its maximum y.
Tensor spread_to_max(const Tensor& z, const Tensor& x, const Tensor& y, const kernels::Windows& w);

// u, shaped like x, from the places that hold the maximum y of each window: their mean.
Tensor pick_at_max(const Tensor& u, const Tensor& x, const Tensor& y, const kernels::Windows& w) {
  const Tensor z = empty(y.shape(), u.dtype());
  const Tensor from = row_major(u), image = row_major(x);
  dispatch_floating("max_pool2d_pick", u.dtype(), [&]<class T>() {
    kernels::pick_at_max(w, image.data<T>(), y.data<T>(), from.data<T>(), mutable_data<T>(z));
  });
  return record(z,
                {"max_pool2d_pick", "u", "y = u where each window is largest, the mean over ties",
                 "du = sum over windows of dy there, shared evenly by ties"},
                {u}, {x, y}, [w](const BackwardContext& c) -> Grads {
                  return {spread_to_max(c.grad, c.saved(0), c.saved(1), w)};
                });
}

Tensor spread_to_max(const Tensor& z, const Tensor& x, const Tensor& y, const kernels::Windows& w) {
  const Tensor u = empty(x.shape(), z.dtype());
  const Tensor from = row_major(z), image = row_major(x);
  dispatch_floating("max_pool2d_spread", z.dtype(), [&]<class T>() {
    kernels::spread_to_max(w, image.data<T>(), y.data<T>(), from.data<T>(), mutable_data<T>(u));
  });
  return record(u,
                {"max_pool2d_spread", "z",
                 "y = sum over windows of z where each is largest, shared evenly by ties",
                 "dz = dy there, the mean over ties"},
                {z}, {x, y}, [w](const BackwardContext& c) -> Grads {
                  return {pick_at_max(c.grad, c.saved(0), c.saved(1), w)};
                });
}

// For each window along an axis, how many of its elements a mean counts.
Tensor counted(const kernels::Windows& w, std::size_t axis, bool padding, DType dtype) {
  const std::int64_t first = padding ? -w.padding[axis] : 0;
  const std::int64_t last = w.plane[axis] + (padding ? w.padding[axis] : 0);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < w.count[axis]; ++i) {
    std::int64_t number = 0;
    for (std::int64_t e = 0; e < w.kernel[axis]; ++e) {
      const std::int64_t at = i * w.stride[axis] - w.padding[axis] + e * w.dilation[axis];
      number += at >= first && at < last;
    }
    numbers.push_back(static_cast<double>(number));
  }
  return to(from_vector(numbers, {w.count[axis]}), dtype);
}

PoolOptions as_pool2d(const Pool1dOptions& o) {
  return {.kernel = {1, o.kernel},
          .stride = HeightWidth{1, o.stride.value_or(o.kernel)},
          .padding = {0, o.padding},
          .dilation = {1, o.dilation},
          .count_padding = o.count_padding,
          .ceil = o.ceil};
}

Tensor as_row(const char* op, const Tensor& x) {
  check(x.dim() == 3, "{}: x must be [batch, channels, time], got shape {}", op, x.shape());
  return unsqueeze(x, 2);
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const PoolOptions& options) {
  const kernels::Windows w = pool_windows("max_pool2d", x, options);
  const Tensor y = empty({x.size(0), x.size(1), w.count[0], w.count[1]}, x.dtype());
  const Tensor image = row_major(x);
  dispatch_floating("max_pool2d", x.dtype(),
                    [&]<class T>() { kernels::max_pool(w, image.data<T>(), mutable_data<T>(y)); });
  return record(y,
                {"max_pool2d", "x", "y = the largest x in each window",
                 "dx = sum over windows of dy where x = y, shared evenly by ties"},
                {x}, {x, y}, [w](const BackwardContext& c) -> Grads {
                  return {spread_to_max(c.grad, c.saved(0).detach(), c.saved(1).detach(), w)};
                });
}

Tensor avg_pool2d(const Tensor& x, const PoolOptions& options) {
  const kernels::Windows w = pool_windows("avg_pool2d", x, options);
  // What a last window reads past the padding is zeros.
  const auto more = [&](std::size_t axis) {
    const std::int64_t reach = w.dilation[axis] * (w.kernel[axis] - 1) + 1;
    const std::int64_t read = (w.count[axis] - 1) * w.stride[axis] + reach;
    return std::max<std::int64_t>(read - w.plane[axis] - 2 * w.padding[axis], 0);
  };
  const bool whole = more(0) == 0 && more(1) == 0;  // windows, within the padding
  Tensor planes = reshape(x, {w.planes, 1, x.size(2), x.size(3)});
  if (!whole) planes = pad(planes, {{0, more(0)}, {0, more(1)}});
  const bool constant = whole && (options.count_padding || w.padding[0] + w.padding[1] == 0);
  const double elements = static_cast<double>(w.kernel[0] * w.kernel[1]);
  const Tensor weight =
      full({1, 1, w.kernel[0], w.kernel[1]}, constant ? 1 / elements : 1, x.dtype());
  const Tensor sums = conv2d(planes, weight, {},
                             {.stride = {w.stride[0], w.stride[1]},
                              .padding = options.padding,
                              .dilation = options.dilation});
  const Tensor y = reshape(sums, {x.size(0), x.size(1), w.count[0], w.count[1]});
  if (constant) return y;
  const auto count = [&](std::size_t axis) {
    return counted(w, axis, options.count_padding, x.dtype());
  };
  return y / (unsqueeze(count(0), 1) * count(1));
}

Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options) {
  return squeeze(max_pool2d(as_row("max_pool1d", x), as_pool2d(options)), 2);
}

Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options) {
  return squeeze(avg_pool2d(as_row("avg_pool1d", x), as_pool2d(options)), 2);
}

}  // namespace gradzoo
