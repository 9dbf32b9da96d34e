// Recurrent layers whose cell is chosen when they are made.
#include "nn/any_recurrent.h"

#include <type_traits>

#include "core/ops/view.h"

namespace gradzoo::nn {

AnyRecurrent::AnyRecurrent(CellKind cell, std::int64_t in, std::int64_t hidden, Rng& rng,
                           const AnyRecurrentOptions& o) {
  const auto make = [&]<class Cell>(Cell) {
    layers = Recurrent<Cell>(in, hidden, rng, {o.num_layers, o.bidirectional, o.dropout, {}});
  };
  if (cell == CellKind::rnn) make(RNNCell());
  if (cell == CellKind::lstm) make(LSTMCell());
  if (cell == CellKind::gru) make(GRUCell());
}

RecurrentOutput<LstmState> AnyRecurrent::operator()(const Tensor& x, const Tensor& lengths,
                                                    const LstmState& initial) const {
  return std::visit(
      [&]<class Cell>(const Recurrent<Cell>& held) -> RecurrentOutput<LstmState> {
        if constexpr (std::is_same_v<Cell, LSTMCell>) {
          return held(x, lengths, initial);
        } else {
          const auto [output, h] = held(x, lengths, initial.h);
          return {output, {h, {}}};
        }
      },
      layers);
}

LstmState side_by_side(const LstmState& states) {
  const auto joined = [](const Tensor& x) {
    if (!x.defined()) return x;
    const std::int64_t layers = x.size(0) / 2, batch = x.size(1), n = x.size(2);
    return reshape(transpose(reshape(x, {layers, 2, batch, n}), 1, 2), {layers, batch, 2 * n});
  };
  return {joined(states.h), joined(states.c)};
}

}  // namespace gradzoo::nn
