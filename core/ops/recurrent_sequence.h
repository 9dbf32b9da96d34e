// Recurrent cells over whole sequences: one op for all steps. It starts where the product of the
// inputs with their weights, made for all steps at once, is there: gates_x, of [time, batch, …].
//
// `lengths` (i64 [batch], each in [0, time]; undefined: all of `time`) says how many steps are a
// row's own. Outside, gates_x is not read, outputs are 0, and the state stays as it is: the final
// one is that of the row's own end, and backwards a row begins at its own end.
#pragma once

#include "core/ops/recurrent.h"
#include "core/tensor.h"

namespace gradzoo {

struct SequenceOptions {
  Tensor lengths = {};
  bool backwards = false;  ///< from the last step to the first
};

struct LstmSequence {
  Tensor output;    ///< h of each step, [time, batch, n]
  LstmState state;  ///< the final one, [batch, n]
};

/// lstm_cell of gates_x[t] + h W_hh^T, step by step: gates_x [time, batch, 4 * n], weight_hh
/// [4 * n, n], the initial state [batch, n].
LstmSequence lstm_sequence(const Tensor& gates_x, const Tensor& weight_hh, const LstmState& initial,
                           const SequenceOptions& options = {});

struct HiddenSequence {
  Tensor output;  ///< h of each step, [time, batch, n]
  Tensor state;   ///< the final h, [batch, n]
};

/// gru_cell of gates_x[t] and h W_hh^T + b_hh, step by step: gates_x [time, batch, 3 * n],
/// weight_hh [3 * n, n], bias_hh [3 * n] or undefined, the initial h [batch, n].
HiddenSequence gru_sequence(const Tensor& gates_x, const Tensor& weight_hh, const Tensor& bias_hh,
                            const Tensor& initial, const SequenceOptions& options = {});

/// What an RNN does with its sums.
enum class RnnActivation { tanh, relu };

/// h' = activation(gates_x[t] + h W_hh^T), step by step: gates_x [time, batch, n], weight_hh [n,
/// n], the initial h [batch, n].
HiddenSequence rnn_sequence(const Tensor& gates_x, const Tensor& weight_hh, const Tensor& initial,
                            RnnActivation activation = RnnActivation::tanh,
                            const SequenceOptions& options = {});

}  // namespace gradzoo
