// Recurrent cells over whole sequences. An op has one output, so that all states are recorded as
// one tensor [time + 1, batch, n], the initial one included (see
// core/kernels/recurrent_sequence.h), to which an LSTM adds its final c; output and final state are
// slices of it.
#include "core/ops/recurrent_sequence.h"

#include <algorithm>
#include <vector>

#include "core/create.h"
#include "core/kernels/recurrent_sequence.h"
#include "core/kernels/thin_product.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/matmul.h"
#include "core/ops/recurrent_steps.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

using kernels::Sequences;
using Tensors = std::vector<Tensor>;

// Shapes, dtypes and lengths, `number` gates side by side; -> what the kernels go by. The lengths
// must be contiguous.
Sequences sequences_of(const char* op, std::int64_t number, const Tensor& gates_x,
                       const Tensor& weight, const Tensor& h, const Tensor& lengths,
                       bool backwards) {
  check(
      gates_x.dim() == 3 && h.dim() == 2 && weight.dim() == 2 && h.size(0) == gates_x.size(1) &&
          gates_x.size(2) == number * h.size(1) &&
          weight.shape() == Shape{number * h.size(1), h.size(1)},
      "{}: gates_x must be [time, batch, {} * n], weight_hh [{} * n, n] and the state [batch, n], "
      "got {}, {} and {}",
      op, number, number, gates_x.shape(), weight.shape(), h.shape());
  for (const Tensor& x : {gates_x, weight}) {
    check(is_floating(h.dtype()) && x.dtype() == h.dtype(),
          "{}: gates_x, weight_hh and state must all be f32 or all f64, got {}, {} and {}", op,
          gates_x.dtype(), weight.dtype(), h.dtype());
  }
  Sequences s{gates_x.size(0), gates_x.size(1), h.size(1), backwards};
  if (!lengths.defined()) return s;
  check(lengths.shape() == Shape{s.batch} && lengths.dtype() == DType::i64,
        "{}: lengths must be i64 [{}], got {} {}", op, s.batch, lengths.dtype(), lengths.shape());
  s.lengths = lengths.data<std::int64_t>();
  for (std::int64_t b = 0; b < s.batch; ++b) {
    check(s.lengths[b] >= 0 && s.lengths[b] <= s.time, "{}: length {} is not in [0, {}]", op,
          s.lengths[b], s.time);
  }
  return s;
}

Tensor row_major_or_none(const Tensor& x) { return x.defined() ? row_major(x) : x; }

// W_hh as the kernels take it: for products with h (transposed) or with the gradients of gates.
Tensor packed(const Tensor& weight, bool transposed) {
  const Tensor w = row_major(weight);
  const std::int64_t rows = w.size(0), cols = w.size(1);
  const std::int64_t k = transposed ? cols : rows, m = transposed ? rows : cols;
  return dispatch_floating("pack", w.dtype(), [&]<class T>() {
    const Tensor out = empty({kernels::packed_size<T>(k, m)}, w.dtype());
    const auto b = transposed ? kernels::Matrix<T>{w.data<T>(), 1, cols}
                              : kernels::Matrix<T>{w.data<T>(), cols, 1};
    kernels::pack_panels(b, k, m, mutable_data<T>(out));
    return out;
  });
}

// Block i of [blocks, batch, n], as a place to write to or to copy from.
Tensor block(const Tensor& states, std::int64_t i) {
  const std::int64_t batch = states.size(1), n = states.size(2);
  return view_of(states, {batch, n}, {n, 1}, i * batch * n);
}

// [blocks, batch, n] whose block before the first step is `initial`.
Tensor begin_states(const Sequences& s, std::int64_t blocks, const Tensor& initial) {
  const Tensor states = empty({blocks, s.batch, s.n}, initial.dtype());
  copy_into(block(states, s.backwards ? s.time : 0), initial);
  return states;
}

// Where the last step leaves its state.
std::int64_t last_block(const Sequences& s) { return s.backwards ? 0 : s.time; }

// Gates of all steps where backward will want them, of one where not.
Tensor room_for_gates(const Sequences& s, std::int64_t width, const Tensors& inputs) {
  const bool kept = modes().grad_enabled && std::any_of(inputs.begin(), inputs.end(),
                                                        [](auto& x) { return x.requires_grad(); });
  return empty({kept ? s.time : 1, s.batch, width * s.n}, inputs[0].dtype());
}

// 0 when all steps share the place of one.
std::int64_t step_of(const Sequences& s, const Tensor& gates) {
  return gates.size(0) == s.time ? s.batch * gates.size(2) : 0;
}

// h of each step, with zeros outside of the sequences.
Tensor output_of(const Sequences& s, const Tensor& states, const Tensor& lengths) {
  const std::int64_t first = s.backwards ? 0 : 1;
  const Tensor h = slice(states, 0, first, first + s.time);
  if (!lengths.defined()) return h;
  const Tensor outside = ge(unsqueeze(arange(static_cast<double>(s.time), DType::i64), 1), lengths);
  return masked_fill(h, unsqueeze(outside, 2), 0);
}

// The gradient of W_hh: one product over all steps.
Tensor weight_gradient(const Sequences& s, const Tensor& dgates, const Tensor& states) {
  const std::int64_t first = s.backwards ? 1 : 0, rows = s.time * s.batch;
  const Tensor before = slice(states, 0, first, first + s.time);
  return matmul(transpose(reshape(dgates, {rows, dgates.size(2)})), reshape(before, {rows, s.n}));
}

// Saved: gates_x, W_hh, h, c, lengths, the states, the gates, the cells.
Grads fused_lstm(const BackwardContext& context, bool backwards) {
  const Tensor weight = context.saved(1), h = context.saved(2), lengths = context.saved(4);
  const Tensor gates = context.saved(6), cells = context.saved(7);
  const Sequences s = sequences_of("lstm_sequence", 4, gates, weight, h, lengths, backwards);
  const Tensor dy = row_major(context.grad), w = packed(weight, false);
  const Tensor dgates = empty(gates.shape(), h.dtype());
  const Tensor dh = zeros(h.shape(), h.dtype()), dc = clone(block(dy, s.time + 1));
  dispatch_floating("lstm_sequence", h.dtype(), [&]<class T>() {
    kernels::lstm_sequence_backward(s, gates.data<T>(), cells.data<T>(), w.data<T>(), dy.data<T>(),
                                    mutable_data<T>(dgates), mutable_data<T>(dh),
                                    mutable_data<T>(dc));
  });
  return {dgates, context.needs(1) ? weight_gradient(s, dgates, context.saved(5)) : Tensor(), dh,
          dc};
}

// Saved: gates_x, W_hh, h, b_hh, lengths, the states, the gates.
Grads fused_gru(const BackwardContext& context, bool backwards) {
  const Tensor gates_x = context.saved(0), weight = context.saved(1), h = context.saved(2);
  const Tensor lengths = context.saved(4), states = context.saved(5), gates = context.saved(6);
  const Sequences s = sequences_of("gru_sequence", 3, gates_x, weight, h, lengths, backwards);
  const Tensor dy = row_major(context.grad), w = packed(weight, false);
  const Tensor dgates_x = empty(gates_x.shape(), h.dtype());
  const Tensor dgates_h = empty(gates_x.shape(), h.dtype()), dh = zeros(h.shape(), h.dtype());
  dispatch_floating("gru_sequence", h.dtype(), [&]<class T>() {
    kernels::gru_sequence_backward(s, gates.data<T>(), states.data<T>(), w.data<T>(), dy.data<T>(),
                                   mutable_data<T>(dgates_x), mutable_data<T>(dgates_h),
                                   mutable_data<T>(dh));
  });
  Grads grads{dgates_x, Tensor(), dh};
  if (context.needs(1)) grads[1] = weight_gradient(s, dgates_h, states);
  if (context.saved(3).defined()) grads.push_back(sum(dgates_h, {0, 1}));
  return grads;
}

// Saved: gates_x, W_hh, h, lengths, the states.
Grads fused_rnn(const BackwardContext& context, bool relu, bool backwards) {
  const Tensor gates_x = context.saved(0), weight = context.saved(1), h = context.saved(2);
  const Tensor lengths = context.saved(3), states = context.saved(4);
  const Sequences s = sequences_of("rnn_sequence", 1, gates_x, weight, h, lengths, backwards);
  const Tensor dy = row_major(context.grad), w = packed(weight, false);
  const Tensor dgates = empty(gates_x.shape(), h.dtype()), dh = zeros(h.shape(), h.dtype());
  dispatch_floating("rnn_sequence", h.dtype(), [&]<class T>() {
    kernels::rnn_sequence_backward(s, relu, states.data<T>(), w.data<T>(), dy.data<T>(),
                                   mutable_data<T>(dgates), mutable_data<T>(dh));
  });
  return {dgates, context.needs(1) ? weight_gradient(s, dgates, states) : Tensor(), dh};
}

}  // namespace

LstmSequence lstm_sequence(const Tensor& gates_x, const Tensor& weight_hh, const LstmState& initial,
                           const SequenceOptions& options) {
  const auto& [h, c] = initial;
  check(h.shape() == c.shape() && h.dtype() == c.dtype(),
        "lstm_sequence: h and c must be of one shape and dtype, got {} {} and {} {}", h.dtype(),
        h.shape(), c.dtype(), c.shape());
  const Tensor lengths = row_major_or_none(options.lengths);
  const Sequences s =
      sequences_of("lstm_sequence", 4, gates_x, weight_hh, h, lengths, options.backwards);
  const Tensor x = row_major(gates_x), w = packed(weight_hh, true);
  const Tensor gates = room_for_gates(s, 4, {gates_x, weight_hh, h, c});
  const Tensor y = begin_states(s, s.time + 2, h), cells = begin_states(s, s.time + 1, c);
  dispatch_floating("lstm_sequence", h.dtype(), [&]<class T>() {
    kernels::lstm_sequence(s, x.data<T>(), w.data<T>(), mutable_data<T>(gates), step_of(s, gates),
                           mutable_data<T>(y), mutable_data<T>(cells));
  });
  copy_into(block(y, s.time + 1), block(cells, last_block(s)));
  record(y,
         {"lstm_sequence", "gx, w, h, c",
          "h, c = lstm_cell(gx[t] + h w^T, c) step by step; y = every h, and the last c",
          "backwards: dgx[t], dc of lstm_cell; dh = dy[t] + dgx[t] w; dw += dgx[t]^T h"},
         {gates_x, weight_hh, h, c}, {gates_x, weight_hh, h, c, lengths, y, gates, cells},
         [backwards = options.backwards](const BackwardContext& context) {
           return modes().grad_enabled ? recorded_lstm(context, backwards)
                                       : fused_lstm(context, backwards);
         });
  return {output_of(s, y, lengths), {select(y, 0, last_block(s)), select(y, 0, s.time + 1)}};
}

HiddenSequence gru_sequence(const Tensor& gates_x, const Tensor& weight_hh, const Tensor& bias_hh,
                            const Tensor& initial, const SequenceOptions& options) {
  const Tensor lengths = row_major_or_none(options.lengths);
  const Sequences s =
      sequences_of("gru_sequence", 3, gates_x, weight_hh, initial, lengths, options.backwards);
  Tensors inputs{gates_x, weight_hh, initial};
  if (bias_hh.defined()) {
    check(bias_hh.shape() == Shape{3 * s.n} && bias_hh.dtype() == initial.dtype(),
          "gru_sequence: bias_hh must be {} [{}], got {} {}", initial.dtype(), 3 * s.n,
          bias_hh.dtype(), bias_hh.shape());
    inputs.push_back(bias_hh);
  }
  const Tensor x = row_major(gates_x), w = packed(weight_hh, true);
  const Tensor bias = row_major_or_none(bias_hh), gates = room_for_gates(s, 4, inputs);
  const Tensor y = begin_states(s, s.time + 1, initial);
  dispatch_floating("gru_sequence", y.dtype(), [&]<class T>() {
    kernels::gru_sequence(s, x.data<T>(), w.data<T>(), bias.defined() ? bias.data<T>() : nullptr,
                          mutable_data<T>(gates), step_of(s, gates), mutable_data<T>(y));
  });
  const Op op =
      bias.defined()
          ? Op{"gru_sequence", "gx, w, h, b",
               "h = gru_cell(gx[t], h w^T + b, h) step by step; y = every h",
               "backwards by gru_cell: dgx, dgh; dh += dy + dgh w; dw += dgh^T h; db += dgh"}
          : Op{"gru_sequence", "gx, w, h",
               "h = gru_cell(gx[t], h w^T, h) step by step; y = every h",
               "backwards by gru_cell: dgx, dgh; dh += dy + dgh w; dw += dgh^T h"};
  const Tensors saved{gates_x, weight_hh, initial, bias_hh, lengths, y, gates};
  record(y, op, inputs, saved, [backwards = options.backwards](const BackwardContext& context) {
    return modes().grad_enabled ? recorded_gru(context, backwards) : fused_gru(context, backwards);
  });
  return {output_of(s, y, lengths), select(y, 0, last_block(s))};
}

HiddenSequence rnn_sequence(const Tensor& gates_x, const Tensor& weight_hh, const Tensor& initial,
                            RnnActivation activation, const SequenceOptions& options) {
  const Tensor lengths = row_major_or_none(options.lengths);
  const bool relu = activation == RnnActivation::relu, backwards = options.backwards;
  const Sequences s =
      sequences_of("rnn_sequence", 1, gates_x, weight_hh, initial, lengths, backwards);
  const Tensor x = row_major(gates_x), w = packed(weight_hh, true);
  const Tensor y = begin_states(s, s.time + 1, initial);
  dispatch_floating("rnn_sequence", y.dtype(), [&]<class T>() {
    kernels::rnn_sequence(s, relu, x.data<T>(), w.data<T>(), mutable_data<T>(y));
  });
  const Op op =
      relu ? Op{"rnn_sequence", "gx, w, h", "h = max(gx[t] + h w^T, 0) step by step; y = every h",
                "backwards: dgx[t] = dh where h > 0; dh = dy[t] + dgx[t] w; dw += dgx[t]^T h"}
           : Op{"rnn_sequence", "gx, w, h", "h = tanh(gx[t] + h w^T) step by step; y = every h",
                "backwards: dgx[t] = dh * (1 - h^2); dh = dy[t] + dgx[t] w; dw += dgx[t]^T h"};
  record(y, op, {gates_x, weight_hh, initial}, {gates_x, weight_hh, initial, lengths, y},
         [relu, backwards](const BackwardContext& context) {
           return modes().grad_enabled ? recorded_rnn(context, relu, backwards)
                                       : fused_rnn(context, relu, backwards);
         });
  return {output_of(s, y, lengths), select(y, 0, last_block(s))};
}

}  // namespace gradzoo
