// Walking several strided arrays of one shape together, run by run.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace gradzoo::kernels {

/// N arrays of one shape, each with its own strides (0 where it is broadcast). Built by
/// walk_over in core/ops/layout.h, which merges axes where it can. Rank at least 1.
template <int N>
struct Walk {
  static constexpr int kMaxRank = 8;
  int rank = 1;
  std::int64_t numel = 0;
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::array<std::int64_t, kMaxRank>, N> strides{};

  std::int64_t inner_stride(int array) const {
    return strides[static_cast<std::size_t>(array)][static_cast<std::size_t>(rank - 1)];
  }
};

/// Calls run(offsets, n) for the elements [begin, end) in row-major order, where each call covers
/// n elements along the last axis, starting at offsets[k] in array k.
template <int N, class Run>
void for_each_run(const Walk<N>& walk, std::int64_t begin, std::int64_t end, const Run& run) {
  std::array<std::int64_t, N> offsets{};
  std::array<std::int64_t, Walk<N>::kMaxRank> index{};
  std::int64_t rest = begin;
  for (std::size_t axis = static_cast<std::size_t>(walk.rank); axis-- > 0;) {
    index[axis] = rest % walk.shape[axis];
    rest /= walk.shape[axis];
    for (std::size_t k = 0; k < N; ++k) offsets[k] += index[axis] * walk.strides[k][axis];
  }
  const std::size_t last = static_cast<std::size_t>(walk.rank - 1);
  while (begin < end) {
    const std::int64_t n = std::min(walk.shape[last] - index[last], end - begin);
    run(offsets, n);
    begin += n;
    if (begin >= end) return;
    // The run ended at the end of the last axis: back to its start, and one further outside.
    for (std::size_t k = 0; k < N; ++k) offsets[k] -= index[last] * walk.strides[k][last];
    index[last] = 0;
    for (std::size_t axis = last; axis-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) offsets[k] += walk.strides[k][axis];
      if (++index[axis] < walk.shape[axis]) break;
      for (std::size_t k = 0; k < N; ++k) offsets[k] -= walk.shape[axis] * walk.strides[k][axis];
      index[axis] = 0;
    }
  }
}

}  // namespace gradzoo::kernels
