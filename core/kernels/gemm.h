// Matrix products by OpenBLAS, cut into tiles that our own threads share.
#pragma once

#include <cstdint>

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// A matrix in memory: element (i, j) is data[i * row_stride + j * col_stride]. Either col_stride
/// is 1 and row_stride at least the number of columns, or row_stride is 1, col_stride is not and is
/// at least the number of rows.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t row_stride;
  std::int64_t col_stride;
};

/// C = A B + bias for A [n, k], B [k, m] and a row-major C [n, m] with rows c_stride apart, which
/// may hold anything before. The bias, [m], is added to each row; null: none. Or, to accumulate,
/// C = A B + C without a bias. All extents and strides fit an int.
template <class T>
struct Product {
  std::int64_t n, m, k;
  Matrix<T> a, b;
  T* c;
  std::int64_t c_stride;
  const T* bias = nullptr;
  bool accumulate = false;
};

/// The product for each item of a batch; arrays 0, 1, 2 of the walk are C, A and B. The bits of the
/// result do not depend on the number of threads. blas_problem() must be empty.
template <class T>
void gemm(const Walk<3>& batch, const Product<T>& product);

/// One product, on the calling thread alone: for kernels that share out their own work.
template <class T>
void gemm_here(const Product<T>& product);

}  // namespace gradzoo::kernels
