// Recurrent sequences step by step, each step an op of its own: slower, but it can be
// differentiated as often as one likes.
#include "core/ops/recurrent_steps.h"

#include <vector>

#include "core/autograd.h"
#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/recurrent.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

using Tensors = std::vector<Tensor>;

// The same states by ops of one step each: step(gates_x[t], state) -> the next state, whose first
// part is h. What is left of the final state is appended.
template <class Step>
Tensor step_by_step(const Tensor& gates_x, Tensors state, const Tensor& lengths, bool backwards,
                    const Step& step) {
  const std::int64_t time = gates_x.size(0);
  Tensors blocks(static_cast<std::size_t>(time + 1));
  const auto keep = [&](std::int64_t i) {
    blocks[static_cast<std::size_t>(backwards ? time - i : i)] = state[0];
  };
  keep(0);
  for (std::int64_t i = 0; i < time; ++i) {
    const std::int64_t t = backwards ? time - 1 - i : i;
    Tensor gates = select(gates_x, 0, t), outside;
    if (lengths.defined()) {
      outside = unsqueeze(le(lengths, static_cast<double>(t)), 1);
      gates = masked_fill(gates, outside, 0);
    }
    const Tensors next = step(gates, state);
    for (std::size_t k = 0; k < state.size(); ++k) {
      state[k] = lengths.defined() ? where(outside, state[k], next[k]) : next[k];
    }
    keep(i + 1);
  }
  for (std::size_t k = 1; k < state.size(); ++k) blocks.push_back(state[k]);
  return stack(blocks);
}

// Gradients of the first `number` saved values, by backward through `formula` of them. They are
// themselves recorded, so that they can be differentiated again. Each saved value gets a node of
// its own first: one may depend on another, but not in the formula.
template <class Formula>
Grads recorded_gradients(const BackwardContext& context, std::size_t number,
                         const Formula& formula) {
  Tensors inputs, wanted;
  for (std::size_t i = 0; i < number; ++i) {
    const Tensor x = context.saved(i);
    inputs.push_back(context.needs(i) ? reshape(x, x.shape()) : x);
    if (context.needs(i)) wanted.push_back(inputs.back());
  }
  Tensors found =
      grad({formula(inputs)}, wanted,
           {.grad_outputs = {context.grad}, .create_graph = true, .allow_unused = true});
  Grads grads(number);
  for (std::size_t i = 0, k = 0; i < number; ++i) {
    if (!context.needs(i)) continue;
    const Tensor& gradient = found[k++];  // undefined where there are no steps to use the input
    grads[i] = gradient.defined() ? gradient : zeros_like(inputs[i]);
  }
  return grads;
}

}  // namespace

Grads recorded_lstm(const BackwardContext& context, bool backwards) {
  return recorded_gradients(context, 4, [&](const Tensors& in) {
    return step_by_step(in[0], {in[2], in[3]}, context.saved(4), backwards,
                        [&](const Tensor& gates, const Tensors& state) -> Tensors {
                          const LstmState next =
                              lstm_cell(gates + linear(state[0], in[1]), state[1]);
                          return {next.h, next.c};
                        });
  });
}

Grads recorded_gru(const BackwardContext& context, bool backwards) {
  const bool has_bias = context.saved(3).defined();
  return recorded_gradients(context, has_bias ? 4 : 3, [&](const Tensors& in) {
    const Tensor bias = has_bias ? in[3] : Tensor();
    return step_by_step(in[0], {in[2]}, context.saved(4), backwards,
                        [&](const Tensor& gates, const Tensors& state) -> Tensors {
                          return {gru_cell(gates, linear(state[0], in[1], bias), state[0])};
                        });
  });
}

Grads recorded_rnn(const BackwardContext& context, bool relu, bool backwards) {
  return recorded_gradients(context, 3, [&](const Tensors& in) {
    return step_by_step(in[0], {in[2]}, context.saved(3), backwards,
                        [&](const Tensor& gates, const Tensors& state) -> Tensors {
                          const Tensor sum = gates + linear(state[0], in[1]);
                          return {relu ? gradzoo::relu(sum) : tanh(sum)};
                        });
  });
}

}  // namespace gradzoo
