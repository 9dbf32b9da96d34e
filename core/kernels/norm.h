// Normalisation of contiguous rows of n >= 1 numbers: to mean 0 and variance 1, or to root mean
// square 1.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

/// Rows of one block: `partial` below has a slice for each, so that their sum does not depend on
/// the number of threads.
std::int64_t norm_block_rows(std::int64_t n);

/// y = (x - mean) / sqrt(mean((x - mean)^2) + eps) * weight + bias; not `centered`: with 0 in place
/// of the mean. stats [rows, 2] is kept for backward: the mean counted from the row's first number
/// (so that it has all its digits), and the factor 1 / sqrt(…).
template <class T>
void normalize(bool centered, const T* x, const T* weight, const T* bias, double eps,
               std::int64_t rows, std::int64_t n, T* y, T* stats);

/// dx, and for each block of rows its part of dweight and dbias: partial [blocks, 2, n].
template <class T>
void normalize_backward(bool centered, const T* x, const T* weight, const T* stats, const T* g,
                        std::int64_t rows, std::int64_t n, T* dx, T* partial);

}  // namespace gradzoo::kernels
