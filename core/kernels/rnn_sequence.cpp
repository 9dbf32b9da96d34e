// Plain RNN over sequences: a thin product for each step, made in the place of the new state.
#include <algorithm>
#include <cstdint>

#include "core/kernels/recurrent_sequence.h"
#include "core/kernels/sequence_blocks.h"
#include "core/kernels/simd.h"
#include "core/kernels/thin_product.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {
namespace {

template <class T>
GRADZOO_SIMD void rnn_step(const Block& block, std::int64_t t, std::int64_t n, bool relu,
                           const T* h, T* next_h) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    T* y = next_h + r * n;
    if (!block.inside(r, t)) {
      copy_rows(h + r * n, 1, n, y);
    } else if (relu) {
#pragma omp simd
      for (std::int64_t j = 0; j < n; ++j) y[j] = y[j] < 0 ? T(0) : y[j];
    } else {
#pragma omp simd
      for (std::int64_t j = 0; j < n; ++j) y[j] = math::tanh(y[j]);
    }
  }
}

template <class T>
GRADZOO_SIMD void rnn_step_backward(const Block& block, std::int64_t t, std::int64_t n, bool relu,
                                    const T* next_h, T* dgates, T* dh) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const T* y = next_h + r * n;
    T *d = dgates + r * n, *dy = dh + r * n;
    if (!block.inside(r, t)) {  // dh goes to the state before as it is
      std::fill(d, d + n, T(0));
      continue;
    }
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      d[j] = relu ? (y[j] > 0 ? dy[j] : T(0)) : dy[j] * (1 - y[j] * y[j]);
      dy[j] = 0;
    }
  }
}

}  // namespace

template <class T>
void rnn_sequence(const Sequences& s, bool relu, const T* gates_x, const T* weight, T* h) {
  const std::int64_t n = s.n;
  for_each_block(s, [&](const Block& block) {
    for_each_step(s.time, s.backwards, [&](std::int64_t t) {
      const T* old = rows_of(h, s, block, s.before(t), n);
      T* next = rows_of(h, s, block, s.after(t), n);
      if (t < block.longest) {
        thin_product<T>(
            {block.rows, n, n, old, n, weight, next, n, rows_of(gates_x, s, block, t, n), n});
      }
      rnn_step(block, t, n, relu, old, next);
    });
  });
}

template <class T>
void rnn_sequence_backward(const Sequences& s, bool relu, const T* h, const T* weight, const T* dy,
                           T* dgates, T* dh) {
  const std::int64_t n = s.n;
  backward_steps(s, n, weight, dy, dgates, dh, [&](std::int64_t t, const Block& block) {
    rnn_step_backward(block, t, n, relu, rows_of(h, s, block, s.after(t), n),
                      rows_of(dgates, s, block, t, n), rows_of(dh, s, block, 0, n));
  });
}

#define INSTANTIATE(T)                                                        \
  template void rnn_sequence(const Sequences&, bool, const T*, const T*, T*); \
  template void rnn_sequence_backward(const Sequences&, bool, const T*, const T*, const T*, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
