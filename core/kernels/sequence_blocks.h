// What recurrent cells have in common when they run over sequences: blocks of rows, the order of
// the steps, the way back. Included by .cpp files only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/kernels/parallel.h"
#include "core/kernels/recurrent_sequence.h"
#include "core/kernels/simd.h"
#include "core/kernels/thin_product.h"

namespace gradzoo::kernels {

// The rows of one block.
struct Block {
  std::int64_t begin, rows, longest;
  const std::int64_t* lengths;  // of these rows, or null

  bool inside(std::int64_t row, std::int64_t t) const {
    return lengths == nullptr || t < lengths[row];
  }
};

// Rows come in fours (see thin_product.cpp). More of them read the weights less often, fewer leave
// something to do for more threads.
inline std::int64_t block_rows(std::int64_t batch) {
  return 4 * std::clamp<std::int64_t>(batch / 32, 1, 4);
}

template <class Body>
void for_each_block(const Sequences& s, const Body& body) {
  parallel_for(s.batch, block_rows(s.batch), [&](std::int64_t begin, std::int64_t end) {
    Block block{begin, end - begin, s.time, nullptr};
    if (s.lengths != nullptr) {
      block.lengths = s.lengths + begin;
      block.longest = *std::max_element(s.lengths + begin, s.lengths + end);
    }
    body(block);
  });
}

// step(t) in the order of the recurrence, or against it.
template <class Step>
void for_each_step(std::int64_t time, bool from_end, const Step& step) {
  for (std::int64_t i = 0; i < time; ++i) step(from_end ? time - 1 - i : i);
}

template <class T>
void copy_rows(const T* from, std::int64_t rows, std::int64_t n, T* to) {
  std::copy(from, from + rows * n, to);
}

// The part of block `index` of [blocks, batch, width] that belongs to `block`.
template <class T>
T* rows_of(T* x, const Sequences& s, const Block& block, std::int64_t index, std::int64_t width) {
  return x + (index * s.batch + block.begin) * width;
}

// dh += dy, for the rows of a block.
template <class T>
GRADZOO_SIMD void add_rows(const T* dy, std::int64_t numel, T* dh) {
#pragma omp simd
  for (std::int64_t i = 0; i < numel; ++i) dh[i] += dy[i];
}

// Runs step(t, block) against the order of the recurrence, where step makes from dh, complete for
// the state after t, the rows of dgates_h [rows, width], and leaves in dh what goes to the state
// before t by other ways than the product.
template <class T, class Step>
void backward_steps(const Sequences& s, std::int64_t width, const T* weight, const T* dy,
                    const T* dgates_h, T* dh_all, const Step& step) {
  for_each_block(s, [&](const Block& block) {
    const std::int64_t numel = block.rows * s.n;
    T* dh = rows_of(dh_all, s, block, 0, s.n);
    for_each_step(s.time, !s.backwards, [&](std::int64_t t) {
      add_rows(rows_of(dy, s, block, s.after(t), s.n), numel, dh);
      step(t, block);
      if (t >= block.longest) return;
      thin_product<T>({block.rows, s.n, width, rows_of(dgates_h, s, block, t, width), width, weight,
                       dh, s.n, dh, s.n});
    });
    add_rows(rows_of(dy, s, block, s.backwards ? s.time : 0, s.n), numel, dh);
  });
}

}  // namespace gradzoo::kernels
