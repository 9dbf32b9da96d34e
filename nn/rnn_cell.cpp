// Recurrent cells: their products with x and with the state; the rest is core/ops/recurrent.h.
#include "nn/rnn_cell.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/unary.h"
#include "core/scope.h"
#include "nn/init.h"

namespace gradzoo::nn {
namespace {

// Where the two biases are only ever added to each other, they go with the product of x, which is
// made once for all steps.
Tensor gates_with_both_biases(const RecurrentWeights& w, const Tensor& x) {
  return linear(x, w.weight_ih, w.bias_ih.defined() ? w.bias_ih + w.bias_hh : Tensor());
}

void check_input(const char* cell, const RecurrentWeights& w, const Tensor& x, const Tensor& h) {
  check(x.dim() == 2 && x.size(1) == w.in_size(), "{}: x must be [batch, {}], got {}", cell,
        w.in_size(), x.shape());
  check(h.shape() == Shape{x.size(0), w.hidden_size()},
        "{}: the state must be [batch, {}] for x of shape {}, got {}", cell, w.hidden_size(),
        x.shape(), h.shape());
}

}  // namespace

RecurrentWeights::RecurrentWeights(std::int64_t gates, std::int64_t in, std::int64_t hidden,
                                   bool bias, Rng& rng) {
  check(in >= 1 && hidden >= 1, "RNN: the widths must be at least 1, got in {} and hidden {}", in,
        hidden);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  weight_ih = init::uniform({gates * hidden, in}, -bound, bound, rng);
  weight_hh = init::uniform({gates * hidden, hidden}, -bound, bound, rng);
  if (!bias) return;
  bias_ih = init::uniform({gates * hidden}, -bound, bound, rng);
  bias_hh = init::uniform({gates * hidden}, -bound, bound, rng);
}

RNNCell::RNNCell(std::int64_t in, std::int64_t hidden, Rng& rng, const Options& options)
    : RecurrentWeights(1, in, hidden, options.bias, rng), activation(options.activation) {}

Tensor RNNCell::input_gates(const Tensor& x) const { return gates_with_both_biases(*this, x); }

Tensor RNNCell::step(const Tensor& gates, const Tensor& h) const {
  const Tensor sum = gates + linear(h, weight_hh);
  return activation == RNNActivation::tanh ? tanh(sum) : relu(sum);
}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) const {
  const Scope scope("RNNCell");
  check_input("RNNCell", *this, x, h);
  return step(input_gates(x), h);
}

LSTMCell::LSTMCell(std::int64_t in, std::int64_t hidden, Rng& rng, const Options& options)
    : RecurrentWeights(4, in, hidden, options.bias, rng) {}

Tensor LSTMCell::input_gates(const Tensor& x) const { return gates_with_both_biases(*this, x); }

LstmState LSTMCell::step(const Tensor& gates, const LstmState& state) const {
  return lstm_cell(gates + linear(state.h, weight_hh), state.c);
}

LstmState LSTMCell::operator()(const Tensor& x, const LstmState& state) const {
  const Scope scope("LSTMCell");
  check_input("LSTMCell", *this, x, state.h);
  return step(input_gates(x), state);
}

GRUCell::GRUCell(std::int64_t in, std::int64_t hidden, Rng& rng, const Options& options)
    : RecurrentWeights(3, in, hidden, options.bias, rng) {}

Tensor GRUCell::input_gates(const Tensor& x) const { return linear(x, weight_ih, bias_ih); }

// Here bias_hh stays with the product of h, for r is applied to both.
Tensor GRUCell::step(const Tensor& gates, const Tensor& h) const {
  return gru_cell(gates, linear(h, weight_hh, bias_hh), h);
}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  const Scope scope("GRUCell");
  check_input("GRUCell", *this, x, h);
  return step(input_gates(x), h);
}

}  // namespace gradzoo::nn
