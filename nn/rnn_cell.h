// One step of a recurrent network: RNN, LSTM and GRU cells. Names, layouts, the order of gates and
// initial values are PyTorch's.
//
// A cell is called with x [batch, in] and its state. What it does with x alone can be done for all
// steps of a sequence at once, so that part has a name of its own: cell(x, state) is
// cell.step(cell.input_gates(x), state).
#pragma once

#include <cstdint>

#include "core/ops/recurrent.h"
#include "core/ops/recurrent_sequence.h"
#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn {

/// The weights of a cell with `gates` gates; biases may be undefined.
struct RecurrentWeights {
  Tensor weight_ih;  ///< [gates * hidden, in]
  Tensor weight_hh;  ///< [gates * hidden, hidden]
  Tensor bias_ih;    ///< [gates * hidden]
  Tensor bias_hh;    ///< [gates * hidden]

  RecurrentWeights() = default;
  /// All uniform in ±1/sqrt(hidden). Throws unless in and hidden are at least 1.
  RecurrentWeights(std::int64_t gates, std::int64_t in, std::int64_t hidden, bool bias, Rng& rng);

  std::int64_t in_size() const { return weight_ih.size(1); }
  std::int64_t hidden_size() const { return weight_hh.size(1); }

  static void fields(auto& self, auto&& visit) {
    visit("weight_ih", self.weight_ih);
    visit("weight_hh", self.weight_hh);
    visit("bias_ih", self.bias_ih);
    visit("bias_hh", self.bias_hh);
  }
};

using RNNActivation = RnnActivation;

struct RNNCellOptions {
  RNNActivation activation = RNNActivation::tanh;
  bool bias = true;
};

/// h' = activation(W_ih x + b_ih + W_hh h + b_hh) (Elman 1990).
struct RNNCell : RecurrentWeights {
  using State = Tensor;
  using Options = RNNCellOptions;
  RNNActivation activation = RNNActivation::tanh;

  RNNCell() = default;
  RNNCell(std::int64_t in, std::int64_t hidden, Rng& rng, const Options& options = {});

  /// [..., in] -> [..., hidden]
  Tensor input_gates(const Tensor& x) const;
  State step(const Tensor& input_gates, const State& h) const;
  /// x [batch, in], h [batch, hidden] -> the new h.
  State operator()(const Tensor& x, const State& h) const;
};

struct LSTMCellOptions {
  bool bias = true;
};

/// gradzoo::lstm_cell of W_ih x + b_ih + W_hh h + b_hh, whose rows are the gates i, f, g, o.
struct LSTMCell : RecurrentWeights {
  using State = LstmState;
  using Options = LSTMCellOptions;

  LSTMCell() = default;
  LSTMCell(std::int64_t in, std::int64_t hidden, Rng& rng, const Options& options = {});

  /// [..., in] -> [..., 4 * hidden]
  Tensor input_gates(const Tensor& x) const;
  State step(const Tensor& input_gates, const State& state) const;
  /// x [batch, in], h and c [batch, hidden] -> the new h and c.
  State operator()(const Tensor& x, const State& state) const;
};

struct GRUCellOptions {
  bool bias = true;
};

/// gradzoo::gru_cell of W_ih x + b_ih and W_hh h + b_hh, whose rows are the gates r, z, n.
struct GRUCell : RecurrentWeights {
  using State = Tensor;
  using Options = GRUCellOptions;

  GRUCell() = default;
  GRUCell(std::int64_t in, std::int64_t hidden, Rng& rng, const Options& options = {});

  /// [..., in] -> [..., 3 * hidden]
  Tensor input_gates(const Tensor& x) const;
  State step(const Tensor& input_gates, const State& h) const;
  /// x [batch, in], h [batch, hidden] -> the new h.
  State operator()(const Tensor& x, const State& h) const;
};

}  // namespace gradzoo::nn
