// Kernels that compare, combine and select by truth values: y is array 0 of the walk, the inputs
// follow in order.
#pragma once

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

template <class T>
void eq(const Walk<3>& walk, const T* a, const T* b, bool* y);
template <class T>
void ne(const Walk<3>& walk, const T* a, const T* b, bool* y);
template <class T>
void lt(const Walk<3>& walk, const T* a, const T* b, bool* y);
template <class T>
void le(const Walk<3>& walk, const T* a, const T* b, bool* y);
template <class T>
void gt(const Walk<3>& walk, const T* a, const T* b, bool* y);
template <class T>
void ge(const Walk<3>& walk, const T* a, const T* b, bool* y);

void logical_and(const Walk<3>& walk, const bool* a, const bool* b, bool* y);
void logical_or(const Walk<3>& walk, const bool* a, const bool* b, bool* y);
void logical_not(const Walk<2>& walk, const bool* a, bool* y);

/// y = condition ? a : b.
template <class T>
void where(const Walk<4>& walk, const bool* condition, const T* a, const T* b, T* y);
/// y = mask ? value : x.
template <class T>
void masked_fill(const Walk<3>& walk, const T* x, const bool* mask, T* y, T value);

}  // namespace gradzoo::kernels
