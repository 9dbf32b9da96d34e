// Elementwise kernels of one array: y and x are arrays 0 and 1 of the walk.
#pragma once

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

template <class T>
void neg(const Walk<2>& walk, const T* x, T* y);
template <class T>
void exp(const Walk<2>& walk, const T* x, T* y);
template <class T>
void relu(const Walk<2>& walk, const T* x, T* y);

}  // namespace gradzoo::kernels
