// Recurrent networks with attention over their own past: a step reads, instead of the one state
// before it, a weighted sum of all states so far. Time is counted from 0, batch first.
//
// Both run over whole sequences and step by step, for decoding; what a step needs of the past is a
// value, whose rows can be repeated, dropped and reordered.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/rnn_cell.h"
#include "nn/scores.h"

namespace gradzoo::nn {

/// What was read so far. Default-constructed: nothing.
struct PastStates {
  Tensor states;   ///< [batch, past, d]: h of every step, in an LSTMN h and c side by side
  Tensor keys;     ///< [batch, past, width]: in an LSTMN W_h h, made once per state; else undefined
  Tensor latest;   ///< [batch, hidden]: what the past adds to the next query
  Tensor visible;  ///< boolean [batch, past], false at padding; undefined: all true

  /// How many steps, padding included.
  std::int64_t size() const { return states.defined() ? states.size(1) : 0; }
  /// Row rows[i] of the batch as row i (i64 [n]); for beam search.
  PastStates select_rows(const Tensor& rows) const;
};

struct AttentiveStep {
  Tensor output;    ///< h, [batch, hidden]
  Tensor weights;   ///< [batch, past]: how much was taken from each state before
  PastStates past;  ///< the past of the next step
};

struct AttentiveOutput {
  Tensor output;    ///< [batch, time, hidden]; 0 at padding
  Tensor weights;   ///< [batch, time, past + time], strictly lower triangular when it all begins
  PastStates past;  ///< of the step after each sequence's last
};

/// The simple form: for the context c_t of step t,
///
///     e_ti = score(h_{t-1}, h_i),  a_t = softmax(e_t),  c_t = sum_i a_ti h_i   over i < t
///     h_t = tanh(A [x_t; c_t] + b)
///
/// with c_0 = 0. A = [weight_ih weight_hh] and b = bias_ih + bias_hh are those of an RNNCell, whose
/// state is c_t. The newest state asks, as in Luong et al. 2015.
struct AttentiveRNN {
  RNNCell cell;
  AttentionScore score;  ///< query and keys of width hidden

  AttentiveRNN() = default;
  /// With an additive score of width `hidden`. Throws unless both widths are at least 1.
  AttentiveRNN(std::int64_t in, std::int64_t hidden, Rng& rng, const RNNCellOptions& options = {});

  /// x [batch, time, in], lengths (i64 [batch], undefined: all of `time`), what was read before.
  /// The padding behind a length is never read, and nothing attends to it.
  AttentiveOutput operator()(const Tensor& x, const Tensor& lengths = {},
                             const PastStates& past = {}) const;
  /// One step: x [batch, in]. `inside` (boolean [batch], undefined: all): false where a sequence
  /// has ended, whose output and weights are 0 and whose past stays as it is.
  AttentiveStep step(const Tensor& x, const PastStates& past, const Tensor& inside = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("cell", self.cell);
    visit("score", self.score);
  }
};

/// The long short-term memory-network of Cheng, Dong and Lapata 2016, which attends over a tape of
/// hidden states and one of cells:
///
///     e_ti = v^T tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1}),  a_t = softmax(e_t)
///     [h~_t; c~_t] = sum_i a_ti [h_i; c_i]                                       over i < t
///     h_t, c_t = LSTMCell(x_t, (h~_t, c~_t))
///
/// with h~ = c~ = 0 at the first step.
struct LSTMN {
  LSTMCell cell;
  AdditiveScore score;  ///< W_h as key_proj; [W_x W_h~] as query_proj, of [x_t; h~_{t-1}]

  LSTMN() = default;
  /// The score has width `hidden`. Throws unless both widths are at least 1.
  LSTMN(std::int64_t in, std::int64_t hidden, Rng& rng, const LSTMCellOptions& options = {});

  /// As in AttentiveRNN.
  AttentiveOutput operator()(const Tensor& x, const Tensor& lengths = {},
                             const PastStates& past = {}) const;
  AttentiveStep step(const Tensor& x, const PastStates& past, const Tensor& inside = {}) const;

  static void fields(auto& self, auto&& visit) {
    visit("cell", self.cell);
    visit("score", self.score);
  }
};

}  // namespace gradzoo::nn
