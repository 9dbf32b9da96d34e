// Reducing a strided array output by output, with any associative operation; part of fold.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/kernels/parallel.h"
#include "core/kernels/reduce.h"
#include "core/kernels/simd.h"
#include "core/kernels/strided.h"

namespace gradzoo::kernels {

// An operation Op says what is computed:
//   using Acc                      what is accumulated: wide enough not to lose digits
//   static constexpr bool kShifted whether of() looks at a number of the output's own (its mean)
//   Acc identity() const           of nothing
//   Acc of(X x, S s) const         of one element; s is the output's own number
//   Acc join(Acc a, Acc b) const   of two parts
//   Y finish(Acc a, S s) const     the result

/// Elements below which a reduction stays on the calling thread.
inline constexpr std::int64_t kFoldBlock = 32768;
/// Most parts that one output is computed in.
inline constexpr std::int64_t kFoldParts = 16;
/// Columns that are accumulated together.
inline constexpr std::int64_t kFoldTile = 256;

template <class Op, class S>
GRADZOO_INLINE S shift_at(const S* shift, std::int64_t i) {
  if constexpr (Op::kShifted) return shift[i];
  return S{};
}

/// One row. Contiguous ones go through lanes that do not wait for each other.
template <class Op, class X, class S>
GRADZOO_SIMD typename Op::Acc fold_row(const X* x, std::int64_t stride, std::int64_t n, S s,
                                       const Op op) {
  constexpr std::int64_t kLanes = 32;
  typename Op::Acc total = op.identity();
  std::int64_t i = 0;
  if (stride == 1 && n >= kLanes) {
    typename Op::Acc lanes[kLanes];
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = op.of(x[k], s);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
#pragma omp simd
      for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = op.join(lanes[k], op.of(x[i + k], s));
    }
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t k = 0; k < half; ++k) lanes[k] = op.join(lanes[k], lanes[k + half]);
    }
    total = lanes[0];
  }
  for (; i < n; ++i) total = op.join(total, op.of(x[i * stride], s));
  return total;
}

/// The elements [begin, end) of the reduced axes, for one output.
template <class Op, class X, class S>
typename Op::Acc fold_range(const Walk<1>& inner, const X* x, std::int64_t begin, std::int64_t end,
                            S s, const Op& op) {
  const std::int64_t stride = inner.inner_stride(0);
  if (inner.rank == 1) return fold_row(x + begin * stride, stride, end - begin, s, op);
  typename Op::Acc total = op.identity();
  for_each_run(inner, begin, end, [&](const auto& at, std::int64_t n) {
    total = op.join(total, fold_row(x + at[0], stride, n, s, op));
  });
  return total;
}

/// In how many parts n elements are done: it depends on n alone, so that the bits do not depend on
/// the number of threads.
inline std::int64_t fold_parts(std::int64_t n) {
  return std::clamp<std::int64_t>(n / kFoldBlock, 1, kFoldParts);
}

/// Output by output: for reduced axes that lie close together in memory.
template <class Op, class X, class Y, class S>
void fold_rows(const Fold& fold, const X* x, Y* y, const S* shift, const Op& op) {
  const std::int64_t n = fold.inner.numel;
  const std::int64_t parts = fold_parts(n);
  const std::int64_t part = (n + parts - 1) / parts;
  const auto each_output = [&](std::int64_t begin, std::int64_t end, const auto& output) {
    std::int64_t i = begin;
    for_each_run(fold.outer, begin, end, [&](const auto& at, std::int64_t count) {
      const X* start = x + at[0];
      for (const std::int64_t stop = i + count; i < stop; ++i) {
        const S s = shift_at<Op>(shift, i);
        y[i] = op.finish(output(start, s), s);
        start += fold.outer.inner_stride(0);
      }
    });
  };
  if (parts == 1) {
    const std::int64_t block = std::max<std::int64_t>(1, kFoldBlock / n);
    parallel_for(fold.outer.numel, block, [&](std::int64_t begin, std::int64_t end) {
      each_output(begin, end,
                  [&](const X* start, S s) { return fold_range(fold.inner, start, 0, n, s, op); });
    });
    return;
  }
  each_output(0, fold.outer.numel, [&](const X* start, S s) {
    std::array<typename Op::Acc, kFoldParts> partial;
    partial.fill(op.identity());
    parallel_for(n, part, [&](std::int64_t begin, std::int64_t end) {
      partial[static_cast<std::size_t>(begin / part)] =
          fold_range(fold.inner, start, begin, end, s, op);
    });
    typename Op::Acc total = op.identity();
    for (const auto& value : partial) total = op.join(total, value);
    return total;
  });
}

}  // namespace gradzoo::kernels
