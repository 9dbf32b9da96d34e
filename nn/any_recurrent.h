// Recurrent layers whose cell is chosen when they are made, for models that leave it open.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/rnn.h"

namespace gradzoo::nn {

enum class CellKind { rnn, lstm, gru };
constexpr std::array<const char*, 3> choice_names(CellKind) { return {"rnn", "lstm", "gru"}; }

struct AnyRecurrentOptions {
  std::int64_t num_layers = 1;
  bool bidirectional = false;
  double dropout = 0;  ///< of the outputs of every layer but the last
};

/// As nn::Recurrent, with tanh in the RNN cell. States have h and c whatever the cell; where it has
/// no c, that is undefined.
struct AnyRecurrent {
  std::variant<RNN, LSTM, GRU> layers;

  AnyRecurrent() = default;
  AnyRecurrent(CellKind cell, std::int64_t in, std::int64_t hidden, Rng& rng,
               const AnyRecurrentOptions& options = {});

  RecurrentOutput<LstmState> operator()(const Tensor& x, const Tensor& lengths = {},
                                        const LstmState& initial = {}) const;

  static void fields(auto& self, auto&& visit) {
    std::visit([&](auto& held) { held.fields(held, visit); }, self.layers);
  }
};

/// The states of layers in two directions, [layers * 2, batch, n], as states of layers in one,
/// [layers, batch, 2 * n]: forward and backward side by side.
LstmState side_by_side(const LstmState& states);

}  // namespace gradzoo::nn
