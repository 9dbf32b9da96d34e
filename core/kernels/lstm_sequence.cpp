// LSTM over sequences: a thin product for each step, and what the cell does with it while it is
// in the cache.
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
GRADZOO_SIMD void lstm_step(const Block& block, std::int64_t t, std::int64_t n, T* gates,
                            const T* h, const T* c, T* next_h, T* next_c) {
  for (std::int64_t r = 0; r < block.rows; ++r, gates += 4 * n) {
    if (!block.inside(r, t)) {
      copy_rows(h + r * n, 1, n, next_h + r * n);
      copy_rows(c + r * n, 1, n, next_c + r * n);
      continue;
    }
    T *i = gates, *f = gates + n, *g = gates + 2 * n, *o = gates + 3 * n;
    const T* old = c + r * n;
    T *y = next_h + r * n, *cell = next_c + r * n;
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      i[j] = math::sigmoid(i[j]);
      f[j] = math::sigmoid(f[j]);
      g[j] = math::tanh(g[j]);
      o[j] = math::sigmoid(o[j]);
      cell[j] = f[j] * old[j] + i[j] * g[j];
      y[j] = o[j] * math::tanh(cell[j]);
    }
  }
}

template <class T>
GRADZOO_SIMD void lstm_step_backward(const Block& block, std::int64_t t, std::int64_t n,
                                     const T* gates, const T* c, const T* next_c, T* dgates, T* dh,
                                     T* dc) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const T *i = gates + r * 4 * n, *f = i + n, *g = f + n, *o = g + n;
    T *di = dgates + r * 4 * n, *df = di + n, *dg = df + n, *dout = dg + n;
    if (!block.inside(r, t)) {  // dh and dc go to the state before as they are
      std::fill(di, di + 4 * n, T(0));
      continue;
    }
    const T *old = c + r * n, *cell = next_c + r * n;
    T *dy = dh + r * n, *dcell = dc + r * n;
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T y = math::tanh(cell[j]);
      const T d = dcell[j] + dy[j] * o[j] * (1 - y * y);
      di[j] = d * g[j] * (i[j] * (1 - i[j]));
      df[j] = d * old[j] * (f[j] * (1 - f[j]));
      dg[j] = d * i[j] * (1 - g[j] * g[j]);
      dout[j] = dy[j] * y * (o[j] * (1 - o[j]));
      dcell[j] = d * f[j];
      dy[j] = 0;
    }
  }
}

}  // namespace

template <class T>
void lstm_sequence(const Sequences& s, const T* gates_x, const T* weight, T* gates,
                   std::int64_t gates_step, T* h, T* c) {
  const std::int64_t n = s.n;
  for_each_block(s, [&](const Block& block) {
    for_each_step(s.time, s.backwards, [&](std::int64_t t) {
      const T* old = rows_of(h, s, block, s.before(t), n);
      const T* old_c = rows_of(c, s, block, s.before(t), n);
      T* own = gates + t * gates_step + block.begin * 4 * n;
      if (t < block.longest) {
        thin_product<T>({block.rows, 4 * n, n, old, n, weight, own, 4 * n,
                         rows_of(gates_x, s, block, t, 4 * n), 4 * n});
      }
      lstm_step(block, t, n, own, old, old_c, rows_of(h, s, block, s.after(t), n),
                rows_of(c, s, block, s.after(t), n));
    });
  });
}

template <class T>
void lstm_sequence_backward(const Sequences& s, const T* gates, const T* c, const T* weight,
                            const T* dy, T* dgates, T* dh, T* dc) {
  const std::int64_t n = s.n;
  backward_steps(s, 4 * n, weight, dy, dgates, dh, [&](std::int64_t t, const Block& block) {
    lstm_step_backward(block, t, n, rows_of(gates, s, block, t, 4 * n),
                       rows_of(c, s, block, s.before(t), n), rows_of(c, s, block, s.after(t), n),
                       rows_of(dgates, s, block, t, 4 * n), rows_of(dh, s, block, 0, n),
                       rows_of(dc, s, block, 0, n));
  });
}

#define INSTANTIATE(T)                                                                           \
  template void lstm_sequence(const Sequences&, const T*, const T*, T*, std::int64_t, T*, T*);   \
  template void lstm_sequence_backward(const Sequences&, const T*, const T*, const T*, const T*, \
                                       T*, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
