// Products of a few rows with a matrix that many such products share, as the steps of a recurrent
// network do. BLAS would pack the matrix for each of them anew, which costs as much as the product.
#pragma once

#include <cstdint>

#include "core/kernels/gemm.h"

namespace gradzoo::kernels {

/// Numbers that the packed form of a matrix [k, m] takes.
template <class T>
std::int64_t packed_size(std::int64_t k, std::int64_t m);
/// The packed form of B [k, m], with any strides: panels of columns, one after the other.
template <class T>
void pack_panels(const Matrix<T>& b, std::int64_t k, std::int64_t m, T* packed);

/// C = A B + init, for rows of A [n, k], C [n, m] and init [n, m] that lie the given strides apart.
/// init may be null (zeros), have a stride of 0 (one row for all), or be C.
template <class T>
struct ThinProduct {
  std::int64_t n, m, k;
  const T* a;
  std::int64_t a_stride;
  const T* packed;
  T* c;
  std::int64_t c_stride;
  const T* init = nullptr;
  std::int64_t init_stride = 0;
};

/// Stays on its thread. A row's bits do not depend on the other rows.
template <class T>
void thin_product(const ThinProduct<T>& product);

}  // namespace gradzoo::kernels
