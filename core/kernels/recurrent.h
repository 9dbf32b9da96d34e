// The elementwise part of recurrent cells, forward and backward, over contiguous rows: one row for
// each sequence of the batch, gates side by side in it, n numbers each.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

/// gates [rows, 4, n] (i f g o before their nonlinearities), c [rows, n] -> y [rows, 2, n]: the new
/// h, then the new c.
template <class T>
void lstm_cell(const T* gates, const T* c, std::int64_t rows, std::int64_t n, T* y);
/// From dy, shaped like y: dgates and dc.
template <class T>
void lstm_cell_backward(const T* gates, const T* c, const T* y, const T* dy, std::int64_t rows,
                        std::int64_t n, T* dgates, T* dc);

/// gates_x, gates_h [rows, 3, n] (r z n before their nonlinearities), h [rows, n] -> the new h.
template <class T>
void gru_cell(const T* gates_x, const T* gates_h, const T* h, std::int64_t rows, std::int64_t n,
              T* y);
/// From dy, shaped like y: dgates_x, dgates_h and dh.
template <class T>
void gru_cell_backward(const T* gates_x, const T* gates_h, const T* h, const T* dy,
                       std::int64_t rows, std::int64_t n, T* dgates_x, T* dgates_h, T* dh);

}  // namespace gradzoo::kernels
