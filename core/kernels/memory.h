// Kernels that move numbers without changing them.
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

}  // namespace gradzoo::kernels
