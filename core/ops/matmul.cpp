// Products of matrices, batches of them, and vectors: strides are settled here, before the numbers
// start.
#include "core/ops/matmul.h"

#include <algorithm>
#include <cstdint>

#include "core/kernels/blas.h"
#include "core/kernels/gemm.h"
#include "core/node.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

constexpr std::int64_t kLargest = INT32_MAX;  // BLAS counts with 32 bits

// True when rows of length `length` lie one after the other, each without gaps inside.
bool row_major(std::int64_t number, std::int64_t length, std::int64_t stride, std::int64_t step) {
  return (length <= 1 || step == 1) && (number <= 1 || stride >= length);
}

// The last two axes of a tensor of rank 2 or more, as BLAS reads them.
struct MatrixView {
  explicit MatrixView(const Tensor& x)
      : rows(x.size(-2)), cols(x.size(-1)), row(x.strides()[x.dim() - 2]), col(x.strides().back()) {
    if (row_major(rows, cols, row, col)) {
      row = rows <= 1 ? std::max<std::int64_t>(cols, 1) : row;
      col = 1;
    } else if (row_major(cols, rows, col, row)) {
      col = cols <= 1 ? std::max<std::int64_t>(rows, 1) : col;
      row = 1;
    } else {
      readable = false;
    }
  }
  std::int64_t rows, cols, row, col;
  bool readable = true;
};

// The same numbers, contiguous, without history: inside an op nothing is recorded.
Tensor packed(const Tensor& x) {
  const Tensor y = empty(x.shape(), x.dtype());
  copy_into(y, x);
  return y;
}

Tensor readable(const Tensor& x) { return MatrixView(x).readable ? x : packed(x); }

// [..., k] as [rows, k]: one big product instead of a batch of small ones.
Tensor fold_rows(const Tensor& x) {
  if (x.dim() == 2) return x;
  const std::int64_t k = x.shape().back();
  const Tensor source = x.is_contiguous() ? x : packed(x);
  const Shape rows{x.shape().sub(0, x.dim() - 1).numel(), k};
  return view_of(source, rows, {k, 1}, source.impl().offset);
}

// The strides of the batch axes of x, 0 where it is broadcast to `shape` (batch axes and two more).
Shape batch_strides(const Tensor& x, const Shape& shape) {
  Shape full = shape;
  full[shape.rank() - 2] = x.size(-2);
  full[shape.rank() - 1] = x.size(-1);
  return broadcast_strides(x, full).sub(0, shape.rank() - 2);
}

// y = a b + bias for tensors of rank 2 or more whose shapes fit; y is contiguous.
void multiply(const char* op, const Tensor& y, const Tensor& left, const Tensor& right,
              const Tensor& bias) {
  check(kernels::blas_problem().empty(), "{}: {}", op, kernels::blas_problem());
  const Tensor a = readable(left);
  const Tensor b = readable(right);
  const MatrixView av(a);
  const MatrixView bv(b);
  check(std::max({av.rows, av.cols, bv.cols, av.row, av.col, bv.row, bv.col}) <= kLargest,
        "{}: extents and strides must not exceed {}, got shapes {} and {}", op, kLargest, a.shape(),
        b.shape());
  const int batch = y.dim() - 2;
  const auto walk = make_walk<3>(
      y.shape().sub(0, batch),
      {y.strides().sub(0, batch), batch_strides(a, y.shape()), batch_strides(b, y.shape())});
  dispatch_floating(op, y.dtype(), [&]<class T>() {
    kernels::gemm<T>(walk, {.n = av.rows,
                            .m = bv.cols,
                            .k = av.cols,
                            .a = {a.data<T>(), av.row, av.col},
                            .b = {b.data<T>(), bv.row, bv.col},
                            .c = mutable_data<T>(y),
                            .c_stride = bv.cols,
                            .bias = bias.defined() ? bias.data<T>() : nullptr});
  });
}

void check_dtypes(const char* op, const Tensor& a, const Tensor& b) {
  check(is_floating(a.dtype()), "{}: the tensors must be f32 or f64, got {}", op, a.dtype());
  check(a.dtype() == b.dtype(), "{}: the dtypes must be equal, got {} and {}", op, a.dtype(),
        b.dtype());
}

// The shape of a product of tensors of rank 2 or more.
Shape product_shape(const Shape& a, const Shape& b) {
  check(a.back() == b[b.rank() - 2],
        "matmul: the last axis of the first and the last but one of the second tensor must have "
        "one extent, got shapes {} and {}",
        a, b);
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape shape = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank() - 2; ++i) {
    const std::int64_t extent = shorter[i];
    check(extent == longer[i + shift] || extent == 1 || longer[i + shift] == 1,
          "matmul: the leading axes cannot be broadcast, got shapes {} and {}", a, b);
    if (longer[i + shift] == 1) shape[i + shift] = extent;
  }
  shape[shape.rank() - 2] = a[a.rank() - 2];
  shape[shape.rank() - 1] = b.back();
  return shape;
}

// x [..., in] and g [..., out] -> g^T x [out, in]: the gradient of a matrix that every row of x
// met, as one product over all rows.
Tensor outer_sum(const Tensor& g, const Tensor& x) {
  const auto rows = [](const Tensor& t) {
    return reshape(t, {t.shape().sub(0, t.dim() - 1).numel(), t.shape().back()});
  };
  return matmul(transpose(rows(g)), rows(x));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.dim() > 0 && b.dim() > 0,
        "matmul: a scalar has no axis to sum over, got shapes {} and {}", a.shape(), b.shape());
  if (a.dim() == 1) return squeeze(matmul(unsqueeze(a, 0), b), b.dim() == 1 ? 0 : -2);
  if (b.dim() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
  check_dtypes("matmul", a, b);
  const Tensor y = empty(product_shape(a.shape(), b.shape()), a.dtype());
  if (b.dim() == 2 && a.dim() > 2) {
    multiply("matmul", fold_rows(y), fold_rows(a), b, {});
  } else {
    multiply("matmul", y, a, b, {});
  }
  return record(y,
                {"matmul", "a, b", "y = a b", "da = dy b^T; db = a^T dy; summed to their shapes"},
                {a, b}, {a, b}, [](const BackwardContext& c) -> Grads {
                  const Tensor a = c.saved(0);
                  const Tensor b = c.saved(1);
                  Tensor grad_a;
                  Tensor grad_b;
                  if (c.needs(0)) grad_a = sum_to(matmul(c.grad, transpose(b)), c.shape(0));
                  if (c.needs(1)) {
                    grad_b = b.dim() == 2 ? transpose(outer_sum(c.grad, a))
                                          : sum_to(matmul(transpose(a), c.grad), c.shape(1));
                  }
                  return {grad_a, grad_b};
                });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_dtypes("linear", x, weight);
  check(x.dim() >= 1 && weight.dim() == 2 && x.shape().back() == weight.size(1),
        "linear: x [..., in] and weight [out, in] do not fit, got shapes {} and {}", x.shape(),
        weight.shape());
  std::vector<Tensor> inputs{x, weight};
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.size(0);
  if (bias.defined()) {
    check_dtypes("linear", bias, weight);
    check(bias.shape() == Shape{weight.size(0)},
          "linear: the bias must have shape [{}] for a weight of shape {}, got {}", weight.size(0),
          weight.shape(), bias.shape());
    inputs.push_back(bias);
  }
  const Tensor y = empty(shape, x.dtype());
  const Tensor flat = bias.defined() && !bias.is_contiguous() ? packed(bias) : bias;
  const Tensor swapped = view_of(weight, {weight.size(1), weight.size(0)},
                                 {weight.strides()[1], weight.strides()[0]}, weight.impl().offset);
  multiply("linear", fold_rows(y), fold_rows(x), swapped, flat);
  const std::vector<Tensor> saved{x, weight};
  const Op op = bias.defined() ? Op{"linear", "x, w, b", "y = x w^T + b",
                                    "dx = dy w; dw = dy^T x; db = sum of dy over rows"}
                               : Op{"linear", "x, w", "y = x w^T", "dx = dy w; dw = dy^T x"};
  return record(y, op, inputs, saved,
                [has_bias = bias.defined()](const BackwardContext& c) -> Grads {
                  Grads grads(has_bias ? 3 : 2);
                  if (c.needs(0)) grads[0] = matmul(c.grad, c.saved(1));
                  if (c.needs(1)) grads[1] = outer_sum(c.grad, c.saved(0));
                  if (has_bias && c.needs(2)) grads[2] = sum_to(c.grad, c.shape(2));
                  return grads;
                });
}

}  // namespace gradzoo
