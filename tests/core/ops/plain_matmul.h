// The product of matrices by plain loops: what the tests of products and their rows of the op table
// compare with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/view.h"

namespace gradzoo::test {

/// The position in an array of shape `own` of the element to which element `index` of an array of
/// shape `full` (both row-major) is broadcast.
inline std::int64_t broadcast_position(std::int64_t index, const Shape& full, const Shape& own) {
  std::int64_t position = 0;
  std::int64_t step = 1;
  for (int i = full.rank() - 1, j = own.rank() - 1; j >= 0; --i, --j) {
    if (own[j] != 1) position += index % full[i] * step;
    index /= full[i];
    step *= own[j];
  }
  return position;
}

/// [..., n, k] x [..., k, m] in f64, the elements in row-major order.
inline std::vector<double> plain_matmul(const Tensor& a, const Tensor& b) {
  const std::int64_t n = a.size(-2), k = a.size(-1), m = b.size(-1);
  const Shape a_batch = a.shape().sub(0, a.dim() - 2);
  const Shape b_batch = b.shape().sub(0, b.dim() - 2);
  const Shape batch = broadcast_shapes("plain_matmul", a_batch, b_batch);
  const std::vector<double> av = to(a, DType::f64).to_vector<double>();
  const std::vector<double> bv = to(b, DType::f64).to_vector<double>();
  std::vector<double> y(static_cast<std::size_t>(batch.numel() * n * m));
  for (std::int64_t item = 0; item < batch.numel(); ++item) {
    const double* pa = av.data() + broadcast_position(item, batch, a_batch) * n * k;
    const double* pb = bv.data() + broadcast_position(item, batch, b_batch) * k * m;
    double* py = y.data() + item * n * m;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t l = 0; l < k; ++l) {
        for (std::int64_t j = 0; j < m; ++j) py[i * m + j] += pa[i * k + l] * pb[l * m + j];
      }
    }
  }
  return y;
}

}  // namespace gradzoo::test
