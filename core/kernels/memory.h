// Kernels that move numbers, or change their type, without computing anything.
#pragma once

#include <cstdint>

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// y = x; arrays 0 and 1 of the walk.
template <class T>
void copy(const Walk<2>& walk, const T* x, T* y);

/// y[0..n) = value.
template <class T>
void fill(T* y, std::int64_t n, T value);

/// y = x in another element type: floats to integers truncate (find_unfit has been asked first),
/// anything to bool is "not 0".
template <class X, class Y>
void convert(const Walk<2>& walk, const X* x, Y* y);

/// The first position whose value no 64-bit integer can hold once truncated, NaN among them; n
/// when there is none.
template <class X>
std::int64_t find_unfit(const X* x, std::int64_t n);

/// Matrices [rows, cols] one after another: y is x on one side of the diagonal j - i = diagonal
/// (and on it), 0 on the other.
template <class T>
void triangle(std::int64_t count, std::int64_t rows, std::int64_t cols, std::int64_t diagonal,
              bool lower, const T* x, T* y);

}  // namespace gradzoo::kernels
