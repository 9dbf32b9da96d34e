// Recurrent cells over all steps of a batch of sequences. Each block of rows runs through all of
// its steps on one thread: threads need not wait for each other, and the states stay in the cache.
//
// States are kept as [time + 1, batch, n]: read forwards, step t leads from block t to block t + 1;
// read backwards, from block t + 1 to block t. A row outside its sequence keeps its state, so that
// backwards it begins at its own end; its gates there are not looked at.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

struct Sequences {
  std::int64_t time, batch, n;
  bool backwards = false;
  const std::int64_t* lengths = nullptr;  ///< [batch], in [0, time]; null: all of `time`

  /// The blocks of states before and after step t.
  std::int64_t before(std::int64_t t) const { return backwards ? t + 1 : t; }
  std::int64_t after(std::int64_t t) const { return backwards ? t : t + 1; }
};

// In what follows `weight` is W_hh packed by pack_panels (thin_product.h): transposed, [n, G n], in
// the forward passes, as it is, [G n, n], in the backward ones. h and c are states whose first
// block is given. dy is the gradient of all blocks of h; dh and dc [batch, n] enter as gradients of
// the last state by other ways, and leave as those of the first.

/// gates_x [time, batch, 4, n] -> h, c, and the gates [time, batch, 4, n] after their
/// nonlinearities, i f g o. With gates_step 0 instead of batch * 4 * n all steps share their place.
template <class T>
void lstm_sequence(const Sequences& s, const T* gates_x, const T* weight, T* gates,
                   std::int64_t gates_step, T* h, T* c);
template <class T>
void lstm_sequence_backward(const Sequences& s, const T* gates, const T* c, const T* weight,
                            const T* dy, T* dgates, T* dh, T* dc);

/// gates_x [time, batch, 3, n], bias [3, n] or null -> h, and r z n after their nonlinearities with
/// h_n as a fourth: gates [time, batch, 4, n].
template <class T>
void gru_sequence(const Sequences& s, const T* gates_x, const T* weight, const T* bias, T* gates,
                  std::int64_t gates_step, T* h);
/// dgates_x and dgates_h [time, batch, 3, n]: of the products with x and with h.
template <class T>
void gru_sequence_backward(const Sequences& s, const T* gates, const T* h, const T* weight,
                           const T* dy, T* dgates_x, T* dgates_h, T* dh);

/// gates_x [time, batch, n] -> h; tanh, or relu.
template <class T>
void rnn_sequence(const Sequences& s, bool relu, const T* gates_x, const T* weight, T* h);
template <class T>
void rnn_sequence_backward(const Sequences& s, bool relu, const T* h, const T* weight, const T* dy,
                           T* dgates, T* dh);

}  // namespace gradzoo::kernels
