// Reducing a strided array along some of its axes with any associative operation (described in
// fold_rows.h). Included by the kernels' .cpp files only, which instantiate it for each reduction.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/kernels/fold_columns.h"
#include "core/kernels/fold_rows.h"

namespace gradzoo::kernels {

/// The number of an output's own, for operations that use none.
struct None {};

template <class T>
GRADZOO_INLINE bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  return false;
}

/// Base of the operations that add. Floats are summed in f64, so that 10^7 of them keep their
/// digits; integers wrap around, which is defined for unsigned ones only.
template <class X>
struct Adding {
  using Acc = std::conditional_t<std::is_floating_point_v<X>, double, std::uint64_t>;
  static constexpr bool kShifted = false;
  GRADZOO_INLINE Acc identity() const { return 0; }
  GRADZOO_INLINE Acc join(Acc a, Acc b) const { return a + b; }
};

/// NaN if there is one, else the largest.
template <class T>
struct Max {
  using Acc = T;
  static constexpr bool kShifted = false;
  GRADZOO_INLINE T identity() const {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  GRADZOO_INLINE T of(T x, None) const { return x; }
  GRADZOO_INLINE T join(T a, T b) const {
    // Two selections, not one condition: that would be a branch, and no vector code.
    const T larger = a > b ? a : b;  // b when either is NaN
    return is_nan(a) ? a : larger;
  }
  GRADZOO_INLINE T finish(T a, None) const { return a; }
};

/// y[i] = the reduction of the elements of output i. `shift` holds one number per output where the
/// operation wants it, and may be y itself.
template <class Op, class X, class Y, class S>
void fold_with(const Fold& fold, const X* x, Y* y, const S* shift, const Op& op) {
  if (fold.inner.numel == 0) {
    for (std::int64_t i = 0; i < fold.outer.numel; ++i) {
      y[i] = op.finish(op.identity(), shift_at<Op>(shift, i));
    }
  } else if (fold.outer.numel > 0) {
    if (fold.outer.inner_stride(0) == 1 && fold.inner.inner_stride(0) != 1) {
      fold_columns(fold, x, y, shift, op);
    } else {
      fold_rows(fold, x, y, shift, op);
    }
  }
}

template <class Op, class X, class Y>
void fold_plain(const Fold& fold, const X* x, Y* y, const Op& op) {
  fold_with(fold, x, y, static_cast<const None*>(nullptr), op);
}

}  // namespace gradzoo::kernels
