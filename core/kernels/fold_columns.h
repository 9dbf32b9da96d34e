// Reducing a strided array for many neighbouring outputs at once; part of fold.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/kernels/fold_rows.h"

namespace gradzoo::kernels {

/// n rows of `width` neighbouring columns, added to one accumulator per column.
template <class Op, class X, class S>
GRADZOO_SIMD void fold_columns_run(const X* x, std::int64_t stride, std::int64_t n,
                                   std::int64_t width, const S* shift, typename Op::Acc* total,
                                   const Op op) {
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const X* a = x + i * stride;
    const X* b = a + stride;
    const X* c = b + stride;
    const X* d = c + stride;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) {
      const S s = shift_at<Op>(shift, k);
      const auto ab = op.join(op.of(a[k], s), op.of(b[k], s));
      const auto cd = op.join(op.of(c[k], s), op.of(d[k], s));
      total[k] = op.join(total[k], op.join(ab, cd));
    }
  }
  for (; i < n; ++i) {
    const X* a = x + i * stride;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) {
      total[k] = op.join(total[k], op.of(a[k], shift_at<Op>(shift, k)));
    }
  }
}

/// One tile of columns, its rows in `parts` parts.
template <class Op, class X, class Y, class S>
void fold_tile(const Walk<1>& inner, const X* x, std::int64_t width, std::int64_t parts, Y* y,
               const S* shift, const Op& op) {
  using Acc = typename Op::Acc;
  Acc total[kFoldParts][kFoldTile];
  const std::int64_t part = (inner.numel + parts - 1) / parts;
  parallel_for(inner.numel, part, [&](std::int64_t begin, std::int64_t end) {
    Acc* mine = total[begin / part];
    std::fill(mine, mine + width, op.identity());
    for_each_run(inner, begin, end, [&](const auto& at, std::int64_t n) {
      fold_columns_run(x + at[0], inner.inner_stride(0), n, width, shift, mine, op);
    });
  });
  for (std::int64_t p = 1; p * part < inner.numel; ++p) {
    for (std::int64_t k = 0; k < width; ++k) total[0][k] = op.join(total[0][k], total[p][k]);
  }
  for (std::int64_t k = 0; k < width; ++k) y[k] = op.finish(total[0][k], shift_at<Op>(shift, k));
}

/// Many outputs at once: for kept axes that end in neighbouring elements while the reduced ones
/// are apart, as in the gradient of a bias.
template <class Op, class X, class Y, class S>
void fold_columns(const Fold& fold, const X* x, Y* y, const S* shift, const Op& op) {
  Walk<1> groups = fold.outer;  // without its last axis, which is cut into tiles
  const std::int64_t columns = groups.shape[static_cast<std::size_t>(groups.rank - 1)];
  const std::int64_t tiles = (columns + kFoldTile - 1) / kFoldTile;
  groups.shape[static_cast<std::size_t>(groups.rank - 1)] = 1;
  groups.numel /= columns;
  const std::int64_t tasks = groups.numel * tiles;
  const std::int64_t work = fold.inner.numel * std::min(columns, kFoldTile);
  const std::int64_t parts = tasks >= kFoldParts ? 1 : std::min(fold_parts(work), fold.inner.numel);
  // With several parts the tasks come one after the other, and each is done by all threads.
  const std::int64_t block = parts > 1 ? tasks : std::max<std::int64_t>(1, kFoldBlock / work);
  parallel_for(tasks, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t group = task / tiles;
      const std::int64_t first = task % tiles * kFoldTile;
      const std::int64_t i = group * columns + first;
      for_each_run(groups, group, group + 1, [&](const auto& at, std::int64_t) {
        fold_tile(fold.inner, x + at[0] + first, std::min(kFoldTile, columns - first), parts, y + i,
                  Op::kShifted ? shift + i : shift, op);
      });
    }
  });
}

}  // namespace gradzoo::kernels
