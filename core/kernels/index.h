// Kernels that pick by index, add by index, and put in order. Indices are in range already.
#pragma once

#include <cstdint>

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// The first position whose index is outside [low, high); n when there is none.
std::int64_t find_outside(const std::int64_t* index, std::int64_t n, std::int64_t low,
                          std::int64_t high);

/// Extents around an indexed axis: an array is [outer, extent, inner], and there are `count`
/// indices.
struct Rows {
  std::int64_t outer, extent, inner, count;
};

/// y[o][j] = x[o][index[j]], rows of `inner` elements: y is [outer, count, inner].
template <class T>
void take_rows(const Rows& rows, const std::int64_t* index, const T* x, T* y);

/// y[o][index[j]] += x[o][j], in order of j: the adjoint of take_rows.
template <class T>
void add_rows(const Rows& rows, const std::int64_t* index, const T* x, T* y);

/// A walk over all lines along one axis, and the way along a line. Arrays: 0 the one with an
/// element for each index, 1 the indices, 2 the one that is indexed.
struct Lines {
  Walk<3> walk;
  std::int64_t length;  ///< indices of a line
  std::int64_t step[3];
};

/// y[j] = x[index[j]] along each line; y is array 0, x array 2.
template <class T>
void gather(const Lines& lines, const std::int64_t* index, const T* x, T* y);

/// y[index[j]] += x[j] along each line, in order of j; x is array 0, y array 2.
template <class T>
void scatter_add(const Lines& lines, const std::int64_t* index, const T* x, T* y);

/// Where the k first of each line of n values are, first things first: the largest (or smallest)
/// in the lead, NaN being the largest of all, and the lower position at a tie. x is [count, n],
/// index [count, k].
template <class T>
void order(std::int64_t count, std::int64_t n, std::int64_t k, bool largest, const T* x,
           std::int64_t* index);

}  // namespace gradzoo::kernels
