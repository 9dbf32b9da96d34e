// Picking by index and adding by index: each is the other's adjoint.
#include "core/ops/index.h"

#include "core/create.h"
#include "core/kernels/index.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// The indices, contiguous and each in [0, extent).
Tensor normalized(const char* op, const Tensor& index, std::int64_t extent, bool from_back = true) {
  check(index.dtype() == DType::i64, "{}: the indices must be i64, got {}", op, index.dtype());
  const Tensor packed = row_major(index);
  const std::int64_t* at = packed.data<std::int64_t>();
  const std::int64_t n = packed.numel();
  const std::int64_t bad = kernels::find_outside(at, n, from_back ? -extent : 0, extent);
  check(bad == n, "{}: index {} is out of range for {} rows", op, bad < n ? at[bad] : 0, extent);
  if (kernels::find_outside(at, n, 0, extent) == n) return packed;
  const Tensor lifted = empty(packed.shape(), DType::i64);
  std::int64_t* out = mutable_data<std::int64_t>(lifted);
  for (std::int64_t i = 0; i < n; ++i) out[i] = at[i] < 0 ? at[i] + extent : at[i];
  return lifted;
}

kernels::Rows rows_of(const Shape& shape, int axis, const Tensor& index) {
  return {shape.sub(0, axis).numel(), shape[axis], shape.sub(axis + 1, shape.rank()).numel(),
          index.numel()};
}

constexpr Op kTakeRows{"take_rows", "x", "y[j] = x[index[j]] along one axis",
                       "dx[i] = sum of dy[j] where index[j] = i"};

Tensor add_rows(const Tensor& x, const Shape& shape, int axis, const Tensor& index);

// The axis replaced by the axes of `index`: x[index[j]] for each j.
Tensor take_rows(const Op& op, const Tensor& x, int axis, const Tensor& index,
                 std::int64_t padding_idx) {
  Shape shape = x.shape().sub(0, axis);
  for (std::int64_t extent : index.shape()) shape.push_back(extent);
  for (int i = axis + 1; i < x.dim(); ++i) shape.push_back(x.shape()[i]);
  const Tensor y = empty(shape, x.dtype());
  const Tensor packed = row_major(x);
  dispatch_all(x.dtype(), [&]<class T>() {
    kernels::take_rows(rows_of(x.shape(), axis, index), index.data<std::int64_t>(),
                       packed.data<T>(), mutable_data<T>(y));
  });
  return record(y, op, {x}, {index}, [axis, padding_idx](const BackwardContext& c) -> Grads {
    const Tensor ids = c.saved(0);
    if (padding_idx < 0) return {add_rows(c.grad, c.shape(0), axis, ids)};
    const Tensor is_padding = unsqueeze(eq(ids, static_cast<double>(padding_idx)), -1);
    return {add_rows(masked_fill(c.grad, is_padding, 0), c.shape(0), axis, ids)};
  });
}

// The adjoint of take_rows: zeros of `shape`, to which the rows of x are added.
Tensor add_rows(const Tensor& x, const Shape& shape, int axis, const Tensor& index) {
  const Tensor y = zeros(shape, x.dtype());
  const Tensor packed = row_major(x);
  dispatch_floating("add_rows", x.dtype(), [&]<class T>() {
    kernels::add_rows(rows_of(shape, axis, index), index.data<std::int64_t>(), packed.data<T>(),
                      mutable_data<T>(y));
  });
  return record(y,
                {"add_rows", "x", "y[i] = sum of x[j] where index[j] = i", "dx[j] = dy[index[j]]"},
                {x}, {index}, [axis](const BackwardContext& c) -> Grads {
                  return {take_rows(kTakeRows, c.grad, axis, c.saved(0), -1)};
                });
}

// The walk of gather and scatter_add; `full` is the array that is indexed.
kernels::Lines lines_of(int axis, const Tensor& picked, const Tensor& index, const Tensor& full) {
  Shape shape = index.shape();
  std::array<Shape, 3> strides{picked.strides(), index.strides(), full.strides()};
  kernels::Lines lines;
  lines.length = shape[axis];
  for (std::size_t k = 0; k < 3; ++k) {
    lines.step[k] = strides[k][axis];
    strides[k].erase(axis);
  }
  shape.erase(axis);
  lines.walk = make_walk<3>(shape, strides);
  return lines;
}

void check_shapes(const char* op, const Tensor& x, int axis, const Tensor& index) {
  check(index.dim() == x.dim(), "{}: the index of shape {} must have as many axes as shape {}", op,
        index.shape(), x.shape());
  for (int i = 0; i < x.dim(); ++i) {
    check(i == axis || index.shape()[i] <= x.shape()[i],
          "{}: the index of shape {} is larger than shape {} on axis {}", op, index.shape(),
          x.shape(), i);
  }
}

// y[index] += src, for a fresh y.
void scatter_into(const Tensor& y, int axis, const Tensor& index, const Tensor& src) {
  dispatch_numeric("scatter_add", y.dtype(), [&]<class T>() {
    kernels::scatter_add(lines_of(axis, src, index, y), index.data<std::int64_t>(), src.data<T>(),
                         mutable_data<T>(y));
  });
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& ids, std::int64_t padding_idx) {
  check(weight.dim() == 2, "embedding: the weight must be [num, dim], its shape is {}",
        weight.shape());
  check(padding_idx < weight.shape()[0], "embedding: padding_idx {} is out of range for {} rows",
        padding_idx, weight.shape()[0]);
  const Tensor index = normalized("embedding", ids, weight.shape()[0], false);
  return take_rows({"embedding", "w", "y[j] = w[id[j]]",
                    "dw[i] = sum of dy[j] where id[j] = i, 0 if i is padding"},
                   weight, 0, index, padding_idx);
}

Tensor index_select(const Tensor& x, std::int64_t axis, const Tensor& index) {
  const int i = normalize_axis("index_select", axis, x.dim());
  check(index.dim() == 1, "index_select: the index must have one axis, its shape is {}",
        index.shape());
  return take_rows({"index_select", "x", "y[j] = x[index[j]] along one axis",
                    "dx[i] = sum of dy[j] where index[j] = i"},
                   x, i, normalized("index_select", index, x.shape()[i]), -1);
}

Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index) {
  const int i = normalize_axis("gather", axis, x.dim());
  check_shapes("gather", x, i, index);
  const Tensor at = normalized("gather", index, x.shape()[i]);
  const Tensor y = empty(at.shape(), x.dtype());
  dispatch_all(x.dtype(), [&]<class T>() {
    kernels::gather(lines_of(i, y, at, x), at.data<std::int64_t>(), x.data<T>(),
                    mutable_data<T>(y));
  });
  return record(y,
                {"gather", "x", "y[j] = x[index[j]] along one axis",
                 "dx[i] = sum of dy[j] where index[j] = i"},
                {x}, {at}, [i](const BackwardContext& c) -> Grads {
                  return {scatter_add(zeros(c.shape(0), c.grad.dtype()), i, c.saved(0), c.grad)};
                });
}

Tensor scatter_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& src) {
  const int i = normalize_axis("scatter_add", axis, x.dim());
  check_shapes("scatter_add", x, i, index);
  check(src.shape() == index.shape() && src.dtype() == x.dtype(),
        "scatter_add: src must be {} {} like x and the index, got {} {}", x.dtype(), index.shape(),
        src.dtype(), src.shape());
  const Tensor at = normalized("scatter_add", index, x.shape()[i]);
  const Tensor y = empty(x.shape(), x.dtype());
  copy_into(y, x);
  scatter_into(y, i, at, src);
  return record(y,
                {"scatter_add", "x, src", "y[i] = x[i] + sum of src[j] where index[j] = i",
                 "dx = dy; dsrc[j] = dy[index[j]]"},
                {x, src}, {at}, [i](const BackwardContext& c) -> Grads {
                  return {c.needs(0) ? c.grad : Tensor(),
                          c.needs(1) ? gather(c.grad, i, c.saved(0)) : Tensor()};
                });
}

}  // namespace gradzoo
