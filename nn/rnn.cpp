// Recurrent networks over sequences. Inside, time is the first axis, so that each step's part of a
// tensor is one block of memory. The products with x are made for all steps of a layer at once.
#include "nn/rnn.h"

#include <algorithm>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/dropout.h"
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

Tensor where_states(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return where(condition, a, b);
}
LstmState where_states(const Tensor& condition, const LstmState& a, const LstmState& b) {
  return {where(condition, a.h, b.h), where(condition, a.c, b.c)};
}

Tensor stack_states(const std::vector<Tensor>& states) { return stack(states); }
LstmState stack_states(const std::vector<LstmState>& states) {
  std::vector<Tensor> h, c;
  for (const LstmState& state : states) h.push_back(state.h), c.push_back(state.c);
  return {stack(h), stack(c)};
}

const Tensor& hidden_of(const Tensor& state) { return state; }
const Tensor& hidden_of(const LstmState& state) { return state.h; }

// Which steps belong to a sequence.
struct Steps {
  std::int64_t shortest, longest;
  Tensor inside;  // boolean [time, batch, 1]; undefined when all do
};

Steps steps_of(const Tensor& lengths, std::int64_t batch, std::int64_t time) {
  if (!lengths.defined() || batch == 0) return {time, time, Tensor()};
  check(lengths.shape() == Shape{batch}, "RNN: lengths must be [batch], got {} for batch {}",
        lengths.shape(), batch);
  const Tensor inside = permute(padding_mask(lengths, time), {2, 0, 1});
  const std::vector<std::int64_t> all = lengths.to_vector<std::int64_t>();
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return {*least, *most, inside};
}

// Appends x[0], x[1], … The gradient of each slice is as large as what it was cut from: cut one
// by one, T steps would cost T^2; cut in halves again and again, T log T.
void append_steps(const Tensor& x, std::vector<Tensor>& steps) {
  const std::int64_t n = x.size(0);
  if (n == 0) return;
  if (n == 1) {
    steps.push_back(squeeze(x, 0));
    return;
  }
  append_steps(slice(x, 0, 0, n / 2), steps);
  append_steps(slice(x, 0, n / 2), steps);
}

// One cell along x [time, batch, in], from its first step to its last or the other way; `state`
// becomes the final one. Outside its sequence a row keeps its state, so that backwards it starts at
// its own end. -> [time, batch, hidden]
template <class Cell>
Tensor run(const Cell& cell, const Tensor& x, const Steps& steps, bool backwards,
           typename Cell::State& state) {
  const std::int64_t time = x.size(0);
  std::vector<Tensor> gates;
  append_steps(cell.input_gates(x), gates);
  const Tensor nothing = zeros_like(hidden_of(state));
  std::vector<Tensor> outputs(static_cast<std::size_t>(time), nothing);
  if (time == 0) return zeros({0, x.size(1), nothing.size(1)}, x.dtype());
  for (std::int64_t i = 0; i < steps.longest; ++i) {
    const std::int64_t t = backwards ? steps.longest - 1 - i : i;
    const auto next = cell.step(gates[static_cast<std::size_t>(t)], state);
    Tensor& output = outputs[static_cast<std::size_t>(t)];
    if (t < steps.shortest) {
      state = next;
      output = hidden_of(next);
    } else {
      const Tensor inside = select(steps.inside, 0, t);
      state = where_states(inside, next, state);
      output = where(inside, hidden_of(next), nothing);
    }
  }
  return stack(outputs);
}

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
  const Scope scope("RNN");
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
  const Steps steps = steps_of(lengths, batch, x.size(1));
  Tensor inputs = transpose(x, 0, 1);
  // Whatever the padding holds, NaN too, must not get into the sums over steps in the gradients.
  if (steps.inside.defined()) inputs = masked_fill(inputs, logical_not(steps.inside), 0);
  std::vector<State> finals;
  const std::size_t directions = bidirectional ? 2 : 1;
  for (std::size_t i = 0; i < cells.size(); i += directions) {
    if (i > 0) inputs = gradzoo::dropout(inputs, dropout);
    std::vector<Tensor> outputs;
    for (std::size_t k = i; k < i + directions; ++k) {
      const auto own = [&](const Tensor& s) { return select(s, 0, static_cast<std::int64_t>(k)); };
      State state = each(own, start);
      outputs.push_back(run(cells[k], inputs, steps, k != i, state));
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
