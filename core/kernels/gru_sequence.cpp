// GRU over sequences: a thin product for each step, and what the cell does with it while it is
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

// gates: r z n as the product made them, with h_n in the place of n.
template <class T>
GRADZOO_SIMD void gru_step(const Block& block, std::int64_t t, std::int64_t n, const T* gates_x,
                           T* gates, const T* h, T* next_h) {
  for (std::int64_t k = 0; k < block.rows; ++k) {
    const T *xr = gates_x + k * 3 * n, *xz = xr + n, *xn = xz + n, *old = h + k * n;
    T *r = gates + k * 4 * n, *z = r + n, *fresh = z + n, *hn = fresh + n, *y = next_h + k * n;
    if (!block.inside(k, t)) {
      copy_rows(old, 1, n, y);
      continue;
    }
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      hn[j] = fresh[j];
      r[j] = math::sigmoid(xr[j] + r[j]);
      z[j] = math::sigmoid(xz[j] + z[j]);
      fresh[j] = math::tanh(xn[j] + r[j] * hn[j]);
      y[j] = (1 - z[j]) * fresh[j] + z[j] * old[j];
    }
  }
}

template <class T>
GRADZOO_SIMD void gru_step_backward(const Block& block, std::int64_t t, std::int64_t n,
                                    const T* gates, const T* h, T* dgates_x, T* dgates_h, T* dh) {
  for (std::int64_t k = 0; k < block.rows; ++k) {
    const T *r = gates + k * 4 * n, *z = r + n, *fresh = z + n, *hn = fresh + n, *old = h + k * n;
    T *xr = dgates_x + k * 3 * n, *xz = xr + n, *xn = xz + n;
    T *hr = dgates_h + k * 3 * n, *hz = hr + n, *dhn = hz + n, *dy = dh + k * n;
    if (!block.inside(k, t)) {  // dh goes to the state before as it is
      std::fill(xr, xr + 3 * n, T(0));
      std::fill(hr, hr + 3 * n, T(0));
      continue;
    }
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T dfresh = dy[j] * (1 - z[j]) * (1 - fresh[j] * fresh[j]);
      const T dr = dfresh * hn[j] * (r[j] * (1 - r[j]));
      const T dz = dy[j] * (old[j] - fresh[j]) * (z[j] * (1 - z[j]));
      xr[j] = dr;
      hr[j] = dr;
      xz[j] = dz;
      hz[j] = dz;
      xn[j] = dfresh;
      dhn[j] = dfresh * r[j];
      dy[j] *= z[j];
    }
  }
}

}  // namespace

template <class T>
void gru_sequence(const Sequences& s, const T* gates_x, const T* weight, const T* bias, T* gates,
                  std::int64_t gates_step, T* h) {
  const std::int64_t n = s.n;
  for_each_block(s, [&](const Block& block) {
    for_each_step(s.time, s.backwards, [&](std::int64_t t) {
      const T* old = rows_of(h, s, block, s.before(t), n);
      T* own = gates + t * gates_step + block.begin * 4 * n;
      if (t < block.longest) {
        thin_product<T>({block.rows, 3 * n, n, old, n, weight, own, 4 * n, bias, 0});
      }
      gru_step(block, t, n, rows_of(gates_x, s, block, t, 3 * n), own, old,
               rows_of(h, s, block, s.after(t), n));
    });
  });
}

template <class T>
void gru_sequence_backward(const Sequences& s, const T* gates, const T* h, const T* weight,
                           const T* dy, T* dgates_x, T* dgates_h, T* dh) {
  const std::int64_t n = s.n;
  backward_steps(s, 3 * n, weight, dy, dgates_h, dh, [&](std::int64_t t, const Block& block) {
    gru_step_backward(block, t, n, rows_of(gates, s, block, t, 4 * n),
                      rows_of(h, s, block, s.before(t), n), rows_of(dgates_x, s, block, t, 3 * n),
                      rows_of(dgates_h, s, block, t, 3 * n), rows_of(dh, s, block, 0, n));
  });
}

#define INSTANTIATE(T)                                                                          \
  template void gru_sequence(const Sequences&, const T*, const T*, const T*, T*, std::int64_t,  \
                             T*);                                                               \
  template void gru_sequence_backward(const Sequences&, const T*, const T*, const T*, const T*, \
                                      T*, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
