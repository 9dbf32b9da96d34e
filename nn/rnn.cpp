// Recurrent networks over sequences. Inside, time is the first axis, so that each step's part of a
// tensor is one block of memory. The products with x are made for all steps of a layer at once, and
// the steps are one op.
#include "nn/rnn.h"

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/recurrent_sequence.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/mask.h"

namespace gradzoo::nn {
namespace {

// f over each tensor of states.
template <class F>
Tensor each(const F& f, const Tensor& a) {
  return f(a);
}
template <class F>
LstmState each(const F& f, const LstmState& a) {
  return {f(a.h), f(a.c)};
}

Tensor stack_states(const std::vector<Tensor>& states) { return stack(states); }
LstmState stack_states(const std::vector<LstmState>& states) {
  std::vector<Tensor> h, c;
  for (const LstmState& state : states) h.push_back(state.h), c.push_back(state.c);
  return {stack(h), stack(c)};
}

// One cell along all steps, from the products with x.
HiddenSequence run(const RNNCell& cell, const Tensor& gates, const Tensor& h,
                   const SequenceOptions& options) {
  return rnn_sequence(gates, cell.weight_hh, h, cell.activation, options);
}
LstmSequence run(const LSTMCell& cell, const Tensor& gates, const LstmState& state,
                 const SequenceOptions& options) {
  return lstm_sequence(gates, cell.weight_hh, state, options);
}
HiddenSequence run(const GRUCell& cell, const Tensor& gates, const Tensor& h,
                   const SequenceOptions& options) {
  return gru_sequence(gates, cell.weight_hh, cell.bias_hh, h, options);
}

template <class Cell>
constexpr const char* kName = "RNN";
template <>
constexpr const char* kName<LSTMCell> = "LSTM";
template <>
constexpr const char* kName<GRUCell> = "GRU";

}  // namespace

template <class Cell>
Recurrent<Cell>::Recurrent(std::int64_t in, std::int64_t hidden, Rng& rng,
                           const RecurrentOptions<Cell>& options)
    : bidirectional(options.bidirectional), dropout(options.dropout) {
  check(options.num_layers >= 1, "RNN: num_layers must be at least 1, got {}", options.num_layers);
  check(dropout >= 0 && dropout <= 1, "RNN: dropout must be in [0, 1], got {}", dropout);
  const std::int64_t directions = bidirectional ? 2 : 1;
  for (std::int64_t i = 0; i < options.num_layers * directions; ++i) {
    cells.emplace_back(i < directions ? in : directions * hidden, hidden, rng, options.cell);
  }
}

template <class Cell>
RecurrentOutput<typename Cell::State> Recurrent<Cell>::operator()(const Tensor& x,
                                                                  const Tensor& lengths,
                                                                  const State& initial) const {
  const Scope scope(kName<Cell>);
  check(x.dim() == 3 && x.size(2) == cells[0].in_size(),
        "RNN: x must be [batch, time, {}], got shape {}", cells[0].in_size(), x.shape());
  const std::int64_t batch = x.size(0), hidden = cells[0].hidden_size();
  const Shape shape{static_cast<std::int64_t>(cells.size()), batch, hidden};
  const State start = each(
      [&](const Tensor& given) {
        if (!given.defined()) return zeros(shape, x.dtype());
        check(given.shape() == shape, "RNN: the initial state must have shape {}, got {}", shape,
              given.shape());
        return given;
      },
      initial);
  Tensor inputs = transpose(x, 0, 1);
  if (lengths.defined()) {
    check(lengths.shape() == Shape{batch}, "RNN: lengths must be [batch], got {} for batch {}",
          lengths.shape(), batch);
    // Whatever the padding holds, NaN too, must not get into the sums over steps in the gradients.
    const Tensor inside = permute(padding_mask(lengths, x.size(1)), {2, 0, 1});
    inputs = masked_fill(inputs, logical_not(inside), 0);  // [time, batch, 1]
  }
  std::vector<State> finals;
  const std::size_t directions = bidirectional ? 2 : 1;
  for (std::size_t i = 0; i < cells.size(); i += directions) {
    if (i > 0) inputs = gradzoo::dropout(inputs, dropout);
    std::vector<Tensor> outputs;
    for (std::size_t k = i; k < i + directions; ++k) {
      const auto own = [&](const Tensor& s) { return select(s, 0, static_cast<std::int64_t>(k)); };
      const auto [output, state] = run(cells[k], cells[k].input_gates(inputs), each(own, start),
                                       {.lengths = lengths, .backwards = k != i});
      outputs.push_back(output);
      finals.push_back(state);
    }
    inputs = directions == 1 ? outputs[0] : concat(outputs, 2);
  }
  return {transpose(inputs, 0, 1), stack_states(finals)};
}

template struct Recurrent<RNNCell>;
template struct Recurrent<LSTMCell>;
template struct Recurrent<GRUCell>;

}  // namespace gradzoo::nn
