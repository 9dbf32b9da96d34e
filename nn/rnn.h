// Recurrent networks over whole sequences: layers of cells, in one direction or both. Names and
// layouts are PyTorch's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/rnn_cell.h"

namespace gradzoo::nn {

template <class Cell>
struct RecurrentOptions {
  std::int64_t num_layers = 1;
  bool bidirectional = false;
  double dropout = 0;  ///< of the outputs of every layer but the last
  typename Cell::Options cell = {};
};

template <class State>
struct RecurrentOutput {
  Tensor output;  ///< [batch, time, directions * hidden] of the last layer; 0 at padding
  State state;    ///< after each sequence's last step, [layers * directions, batch, hidden]
};

/// x [batch, time, in], `lengths` (i64 [batch], undefined: all of `time`) and an initial state
/// [layers * directions, batch, hidden] (undefined: zeros) -> outputs and final state. The padding
/// behind a length is never read; the backward direction begins at each sequence's own end.
template <class Cell>
struct Recurrent {
  using State = typename Cell::State;
  std::vector<Cell> cells;  ///< by layer, in each the forward cell, then the backward one
  bool bidirectional = false;
  double dropout = 0;

  Recurrent() = default;
  /// Throws unless the widths and num_layers are at least 1 and dropout is in [0, 1].
  Recurrent(std::int64_t in, std::int64_t hidden, Rng& rng,
            const RecurrentOptions<Cell>& options = {});

  RecurrentOutput<State> operator()(const Tensor& x, const Tensor& lengths = {},
                                    const State& initial = {}) const;

  /// weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse, …
  static void fields(auto& self, auto&& visit) {
    const std::size_t directions = self.bidirectional ? 2 : 1;
    for (std::size_t i = 0; i < self.cells.size(); ++i) {
      const std::string place =
          "_l" + std::to_string(i / directions) + (i % directions == 1 ? "_reverse" : "");
      Cell::fields(self.cells[i],
                   [&](const char* name, auto& tensor) { visit((name + place).c_str(), tensor); });
    }
  }
};

extern template struct Recurrent<RNNCell>;
extern template struct Recurrent<LSTMCell>;
extern template struct Recurrent<GRUCell>;

using RNN = Recurrent<RNNCell>;
using LSTM = Recurrent<LSTMCell>;
using GRU = Recurrent<GRUCell>;

}  // namespace gradzoo::nn
