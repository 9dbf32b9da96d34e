// Elementwise kernels of two arrays: y, a, b are arrays 0, 1, 2 of the walk.
#pragma once

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

template <class T>
void add(const Walk<3>& walk, const T* a, const T* b, T* y);
template <class T>
void sub(const Walk<3>& walk, const T* a, const T* b, T* y);
template <class T>
void mul(const Walk<3>& walk, const T* a, const T* b, T* y);

}  // namespace gradzoo::kernels
