// Matrix products by OpenBLAS, and which of its kernels run.
#pragma once

#include <cstdint>
#include <string>

namespace gradzoo::kernels {

/// A matrix in memory: element (i, j) is data[i * row_stride + j * col_stride], and one of the
/// strides is 1.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t row_stride;
  std::int64_t col_stride;
};

/// C = A B for A [n, k], B [k, m] and C [n, m] row-major with rows `c_stride` apart. C is
/// overwritten whatever it held; k = 0 gives zeros.
template <class T>
void gemm(std::int64_t n, std::int64_t m, std::int64_t k, Matrix<T> a, Matrix<T> b, T* c,
          std::int64_t c_stride);

/// "OpenBLAS 0.3.21, SkylakeX kernels".
std::string blas_info();

}  // namespace gradzoo::kernels
