// Running sums and products along one axis.
#include <vector>

#include "core/kernels/scan.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

kernels::ScanShape scan_shape(const Shape& shape, int axis) {
  kernels::ScanShape scan{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) scan.outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) scan.inner *= shape[i];
  return scan;
}

// y_i = x_(i + step) for a step of 1 or -1, `outside` where there is no such element.
Tensor neighbour(const Tensor& x, int axis, int step, double outside) {
  if (x.numel() == 0) return x;
  std::vector<std::pair<std::int64_t, std::int64_t>> widths(
      static_cast<std::size_t>(x.dim() - axis));
  widths[0] = step > 0 ? std::pair<std::int64_t, std::int64_t>(0, 1)
                       : std::pair<std::int64_t, std::int64_t>(1, 0);
  const std::int64_t n = x.size(axis);
  return pad(step > 0 ? slice(x, axis, 1) : slice(x, axis, 0, n - 1), widths, outside);
}

constexpr Op kSumFromFront{"cumsum", "x", "y[i] = x[0] + ... + x[i]",
                           "dx[i] = dy[i] + ... + dy[n - 1]"};
constexpr Op kSumFromBack{"cumsum", "x", "y[i] = x[i] + ... + x[n - 1]",
                          "dx[i] = dy[0] + ... + dy[i]"};

Tensor running_sum(const Tensor& x, int axis, bool reverse) {
  const Tensor y = empty(x.shape(), x.dtype());
  const Tensor packed = contiguous(x.detach());
  dispatch_numeric("cumsum", x.dtype(), [&]<class T>() {
    kernels::cumsum(scan_shape(x.shape(), axis), reverse, packed.data<T>(), mutable_data<T>(y));
  });
  return record(y, reverse ? kSumFromBack : kSumFromFront, {x}, {},
                [axis, reverse](const BackwardContext& c) -> Grads {
                  return {running_sum(c.grad, axis, !reverse)};
                });
}

constexpr Op kRecurrence{"recurrence", "a, b", "y[i] = b[i] + a[i] * y[i - 1]",
                         "db[i] = dy[i] + a[i + 1] * db[i + 1]; da[i] = db[i] * y[i - 1]"};
constexpr Op kRecurrenceFromBack{"recurrence", "a, b", "y[i] = b[i] + a[i] * y[i + 1]",
                                 "db[i] = dy[i] + a[i - 1] * db[i - 1]; da[i] = db[i] * y[i + 1]"};

// y_i = b_i + a_i * y_(i-1), from the back b_i + a_i * y_(i+1). The gradient of such a recurrence
// is one that runs the other way.
Tensor recurrence(const Tensor& a, const Tensor& b, int axis, bool reverse) {
  const Tensor y = empty(a.shape(), a.dtype());
  const Tensor packed_a = contiguous(a.detach());
  const Tensor packed_b = contiguous(b.detach());
  dispatch_floating("recurrence", a.dtype(), [&]<class T>() {
    kernels::recurrence(scan_shape(a.shape(), axis), reverse, packed_a.data<T>(),
                        packed_b.data<T>(), mutable_data<T>(y));
  });
  return record(y, reverse ? kRecurrenceFromBack : kRecurrence, {a, b}, {a, y},
                [axis, reverse](const BackwardContext& c) -> Grads {
                  const int onward = reverse ? -1 : 1;
                  const Tensor next_a = neighbour(c.saved(0), axis, onward, 0);
                  const Tensor db = recurrence(next_a, c.grad, axis, !reverse);
                  return {c.needs(0) ? db * neighbour(c.saved(1), axis, -onward, 0) : Tensor(),
                          c.needs(1) ? db : Tensor()};
                });
}

}  // namespace

Tensor cumsum(const Tensor& x, std::int64_t axis) {
  return running_sum(x, normalize_axis("cumsum", axis, x.dim()), false);
}

Tensor cumprod(const Tensor& x, std::int64_t axis) {
  const int along = normalize_axis("cumprod", axis, x.dim());
  const Tensor y = empty(x.shape(), x.dtype());
  const Tensor packed = contiguous(x.detach());
  dispatch_numeric("cumprod", x.dtype(), [&]<class T>() {
    kernels::cumprod(scan_shape(x.shape(), along), packed.data<T>(), mutable_data<T>(y));
  });
  return record(y,
                {"cumprod", "x", "y[i] = x[0] * ... * x[i]",
                 "dx[i] = y[i - 1] * (dy[i] + x[i + 1] * (dy[i + 1] + x[i + 2] * (...)))"},
                {x}, {x, y}, [along](const BackwardContext& c) -> Grads {
                  // dy_j/dx_i is the product before i, times that of what lies between i and j: no
                  // quotient, so zeros do no harm. The sum over j, g_j times the latter, is a
                  // recurrence from the back.
                  const Tensor before = neighbour(c.saved(1), along, -1, 1);
                  const Tensor after =
                      recurrence(neighbour(c.saved(0), along, 1, 0), c.grad, along, true);
                  return {before * after};
                });
}

}  // namespace gradzoo
