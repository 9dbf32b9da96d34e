// Arithmetic kernels of two arrays: y, a, b are arrays 0, 1, 2 of the walk. Integers wrap.
#pragma once

#include <cstdint>

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

template <class T>
void add(const Walk<3>& walk, const T* a, const T* b, T* y);
template <class T>
void sub(const Walk<3>& walk, const T* a, const T* b, T* y);
template <class T>
void mul(const Walk<3>& walk, const T* a, const T* b, T* y);
/// Integers: truncates; b must hold no 0.
template <class T>
void div(const Walk<3>& walk, const T* a, const T* b, T* y);
template <class T>
void pow(const Walk<3>& walk, const T* a, const T* b, T* y);
/// y = a^exponent; arrays 0 and 1 of the walk.
template <class T>
void pow(const Walk<2>& walk, const T* a, T* y, double exponent);
/// The larger; NaN if either is.
template <class T>
void maximum(const Walk<3>& walk, const T* a, const T* b, T* y);
/// The smaller; NaN if either is.
template <class T>
void minimum(const Walk<3>& walk, const T* a, const T* b, T* y);

bool contains_zero(const Walk<1>& walk, const std::int64_t* x);

}  // namespace gradzoo::kernels
