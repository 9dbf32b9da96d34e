// Recurrent cells, row by row. Backward computes the gates again: that is cheaper than to write
// them to memory and read them back.
#include "core/kernels/recurrent.h"

#include <cmath>

#include "core/kernels/parallel.h"
#include "core/kernels/rows.h"
#include "core/kernels/simd.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {

template <class T>
GRADZOO_SIMD void lstm_rows(const T* gates, const T* c, std::int64_t rows, std::int64_t n, T* y) {
  for (std::int64_t r = 0; r < rows; ++r, gates += 4 * n, c += n, y += 2 * n) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T i = math::sigmoid(gates[j]);
      const T f = math::sigmoid(gates[n + j]);
      const T g = math::tanh(gates[2 * n + j]);
      const T o = math::sigmoid(gates[3 * n + j]);
      const T cell = f * c[j] + i * g;
      y[j] = o * math::tanh(cell);
      y[n + j] = cell;
    }
  }
}

template <class T>
GRADZOO_SIMD void lstm_backward_rows(const T* gates, const T* c, const T* y, const T* dy,
                                     std::int64_t rows, std::int64_t n, T* dgates, T* dc) {
  for (std::int64_t r = 0; r < rows; ++r) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T i = math::sigmoid(gates[j]);
      const T f = math::sigmoid(gates[n + j]);
      const T g = math::tanh(gates[2 * n + j]);
      const T o = math::sigmoid(gates[3 * n + j]);
      const T t = math::tanh(y[n + j]);
      const T dcell = dy[n + j] + dy[j] * o * (1 - t * t);
      dgates[j] = dcell * g * (i * (1 - i));
      dgates[n + j] = dcell * c[j] * (f * (1 - f));
      dgates[2 * n + j] = dcell * i * (1 - g * g);
      dgates[3 * n + j] = dy[j] * t * (o * (1 - o));
      dc[j] = dcell * f;
    }
    gates += 4 * n, dgates += 4 * n;
    y += 2 * n, dy += 2 * n;
    c += n, dc += n;
  }
}

template <class T>
GRADZOO_SIMD void gru_rows(const T* gates_x, const T* gates_h, const T* h, std::int64_t rows,
                           std::int64_t n, T* y) {
  for (std::int64_t k = 0; k < rows; ++k, gates_x += 3 * n, gates_h += 3 * n, h += n, y += n) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T r = math::sigmoid(gates_x[j] + gates_h[j]);
      const T z = math::sigmoid(gates_x[n + j] + gates_h[n + j]);
      const T fresh = math::tanh(gates_x[2 * n + j] + r * gates_h[2 * n + j]);
      y[j] = (1 - z) * fresh + z * h[j];
    }
  }
}

template <class T>
GRADZOO_SIMD void gru_backward_rows(const T* gates_x, const T* gates_h, const T* h, const T* dy,
                                    std::int64_t rows, std::int64_t n, T* dgates_x, T* dgates_h,
                                    T* dh) {
  for (std::int64_t k = 0; k < rows; ++k) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const T r = math::sigmoid(gates_x[j] + gates_h[j]);
      const T z = math::sigmoid(gates_x[n + j] + gates_h[n + j]);
      const T fresh = math::tanh(gates_x[2 * n + j] + r * gates_h[2 * n + j]);
      const T dfresh = dy[j] * (1 - z) * (1 - fresh * fresh);
      const T dr = dfresh * gates_h[2 * n + j] * (r * (1 - r));
      const T dz = dy[j] * (h[j] - fresh) * (z * (1 - z));
      dgates_x[j] = dr;
      dgates_h[j] = dr;
      dgates_x[n + j] = dz;
      dgates_h[n + j] = dz;
      dgates_x[2 * n + j] = dfresh;
      dgates_h[2 * n + j] = dfresh * r;
      dh[j] = dy[j] * z;
    }
    gates_x += 3 * n, gates_h += 3 * n;
    dgates_x += 3 * n, dgates_h += 3 * n;
    h += n, dy += n, dh += n;
  }
}

template <class T>
void lstm_cell(const T* gates, const T* c, std::int64_t rows, std::int64_t n, T* y) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    lstm_rows(gates + begin * 4 * n, c + begin * n, end - begin, n, y + begin * 2 * n);
  });
}

template <class T>
void lstm_cell_backward(const T* gates, const T* c, const T* y, const T* dy, std::int64_t rows,
                        std::int64_t n, T* dgates, T* dc) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    lstm_backward_rows(gates + begin * 4 * n, c + begin * n, y + begin * 2 * n, dy + begin * 2 * n,
                       end - begin, n, dgates + begin * 4 * n, dc + begin * n);
  });
}

template <class T>
void gru_cell(const T* gates_x, const T* gates_h, const T* h, std::int64_t rows, std::int64_t n,
              T* y) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    gru_rows(gates_x + begin * 3 * n, gates_h + begin * 3 * n, h + begin * n, end - begin, n,
             y + begin * n);
  });
}

template <class T>
void gru_cell_backward(const T* gates_x, const T* gates_h, const T* h, const T* dy,
                       std::int64_t rows, std::int64_t n, T* dgates_x, T* dgates_h, T* dh) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    gru_backward_rows(gates_x + begin * 3 * n, gates_h + begin * 3 * n, h + begin * n,
                      dy + begin * n, end - begin, n, dgates_x + begin * 3 * n,
                      dgates_h + begin * 3 * n, dh + begin * n);
  });
}

#define INSTANTIATE(T)                                                                   \
  template void lstm_cell(const T*, const T*, std::int64_t, std::int64_t, T*);           \
  template void lstm_cell_backward(const T*, const T*, const T*, const T*, std::int64_t, \
                                   std::int64_t, T*, T*);                                \
  template void gru_cell(const T*, const T*, const T*, std::int64_t, std::int64_t, T*);  \
  template void gru_cell_backward(const T*, const T*, const T*, const T*, std::int64_t,  \
                                  std::int64_t, T*, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
