// Reductions of a strided array along some of its axes.
#pragma once

#include <cstdint>

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// What is reduced to what: output i (contiguous) comes from the elements of `inner`, counted from
/// where element i of `outer` lies. Built by make_fold in core/ops/reduction.h.
struct Fold {
  Walk<1> outer;  ///< the kept axes
  Walk<1> inner;  ///< the reduced axes
};

/// Accumulates in f64 (floats) or modulo 2^64 (integers; booleans are counted).
template <class X, class Y>
void sum(const Fold& fold, const X* x, Y* y);
/// The sum over the number of elements.
template <class X, class Y>
void mean(const Fold& fold, const X* x, Y* y);
template <class T>
void prod(const Fold& fold, const T* x, T* y);
/// NaN, if there is one, else the largest; there must be an element.
template <class T>
void max(const Fold& fold, const T* x, T* y);
/// NaN, if there is one, else the smallest; there must be an element.
template <class T>
void min(const Fold& fold, const T* x, T* y);
/// Where in the inner axes `value[i]` (NaN: the first NaN) is found first.
template <class T>
void find(const Fold& fold, const T* x, const T* value, std::int64_t* y);
void any(const Fold& fold, const bool* x, bool* y);
void all(const Fold& fold, const bool* x, bool* y);

}  // namespace gradzoo::kernels
