// Softmax and its logarithm over contiguous rows of n numbers. Blocks of rows stay in the cache
// while they are worked on.
#pragma once

#include <cstdint>

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// A boolean mask of `rows.numel` rows, read where it lies: array 0 of the walk is the first
/// element of each row, `step` the distance of neighbours within a row (0: all the same).
struct RowMask {
  const bool* data = nullptr;
  Walk<1> rows;
  std::int64_t step = 0;
};

template <class T>
void softmax(const T* x, std::int64_t rows, std::int64_t n, T* y);
/// 0 where the mask is false; x is not looked at there. A row with nothing but -inf left is 0.
template <class T>
void masked_softmax(const T* x, const RowMask& mask, std::int64_t n, T* y);
template <class T>
void log_softmax(const T* x, std::int64_t rows, std::int64_t n, T* y);
/// -inf where the mask is false; x is not looked at there. A row with nothing but -inf left stays
/// -inf.
template <class T>
void masked_log_softmax(const T* x, const RowMask& mask, std::int64_t n, T* y);

/// dx = y (g - sum(g y)). Places where y is 0 get 0, whatever g is there.
template <class T>
void softmax_backward(const T* y, const T* g, std::int64_t rows, std::int64_t n, T* dx);
/// dx = g - exp(y) sum(g).
template <class T>
void log_softmax_backward(const T* y, const T* g, std::int64_t rows, std::int64_t n, T* dx);
/// The same, with places where y is -inf left out: they get 0, whatever g is there.
template <class T>
void masked_log_softmax_backward(const T* y, const T* g, std::int64_t rows, std::int64_t n, T* dx);

}  // namespace gradzoo::kernels
