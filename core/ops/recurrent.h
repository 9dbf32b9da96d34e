// What a recurrent cell does once its matrix products are made: gates, and the new state.
#pragma once

#include "core/tensor.h"

namespace gradzoo {

/// What an LSTM carries from step to step: the output h and the cell c, of one shape.
struct LstmState {
  Tensor h;
  Tensor c;
};

/// c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c') (Hochreiter and Schmidhuber
/// 1997, Gers et al. 2000): gates [batch, 4 * n], the sums i, f, g, o side by side; c [batch, n].
LstmState lstm_cell(const Tensor& gates, const Tensor& c);

/// h' = (1 - z) tanh(x_n + r h_n) + z h, with r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z)
/// (Cho et al. 2014, with r applied after the product, as in PyTorch): gates_x and gates_h
/// [batch, 3 * n] are the products with the input and with h, biases included, r, z, n side by
/// side; h [batch, n].
Tensor gru_cell(const Tensor& gates_x, const Tensor& gates_h, const Tensor& h);

}  // namespace gradzoo
