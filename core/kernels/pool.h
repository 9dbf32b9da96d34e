// Maxima of windows, and where they are.
#pragma once

#include "core/kernels/im2col.h"

namespace gradzoo::kernels {

/// y [planes, windows]: the largest element of each window of x [planes, height, width], NaN if
/// there is one; -infinity for a window that lies outside.
template <class T>
void max_pool(const Windows& windows, const T* x, T* y);

/// Given such x and y: z [planes, windows] is the mean of u, shaped like x, over the places of each
/// window that hold the maximum; 0 where there is none.
template <class T>
void pick_at_max(const Windows& windows, const T* x, const T* y, const T* u, T* z);

/// The adjoint: u, shaped like x, from z.
template <class T>
void spread_to_max(const Windows& windows, const T* x, const T* y, const T* z, T* u);

}  // namespace gradzoo::kernels
