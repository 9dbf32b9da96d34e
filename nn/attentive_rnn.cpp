// Recurrent networks with attention over their own past. A state is appended by copying those
// before it, which costs no more than the attention that reads them.
#include "nn/attentive_rnn.h"

#include <vector>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/index.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/attend.h"
#include "nn/mask.h"

namespace gradzoo::nn {
namespace {

// What says which rows or states count, when it is defined.
void check_boolean(const char* name, const char* what, const Tensor& mask, const Shape& shape) {
  if (!mask.defined()) return;
  check(mask.dtype() == DType::boolean && mask.shape() == shape,
        "{}: {} must be boolean {}, got {} {}", name, what, shape, mask.dtype(), mask.shape());
}

// The past that `past` stands for: where it has nothing, tensors of no steps. `tape` is the width
// of a state.
PastStates begun(const char* name, const PastStates& past, const RecurrentWeights& cell,
                 std::int64_t tape, const Tensor& x, const Tensor& inside) {
  check(x.dim() == 2 && x.size(1) == cell.in_size(), "{}: x must be [batch, {}], got {}", name,
        cell.in_size(), x.shape());
  const std::int64_t batch = x.size(0), hidden = cell.hidden_size();
  check_boolean(name, "inside [batch]", inside, {batch});
  if (!past.states.defined()) {
    return {zeros({batch, 0, tape}, x.dtype()), {}, zeros({batch, hidden}, x.dtype()), {}};
  }
  check(past.states.shape() == Shape{batch, past.size(), tape},
        "{}: the states of the past must be [{}, past, {}] for x of shape {}, got {}", name, batch,
        tape, x.shape(), past.states.shape());
  check_boolean(name, "visible [batch, past]", past.visible, {batch, past.size()});
  return past;
}

// `past` and one more step, of which `state` [batch, d] and `key` (or undefined) are remembered.
PastStates extended(const PastStates& past, const Tensor& state, const Tensor& key,
                    const Tensor& latest, const Tensor& inside) {
  const auto append = [](const Tensor& all, const Tensor& one) {
    return all.defined() ? concat({all, unsqueeze(one, 1)}, 1) : unsqueeze(one, 1);
  };
  PastStates next{append(past.states, state), {}, latest, {}};
  if (key.defined()) next.keys = append(past.keys, key);
  if (inside.defined()) next.latest = where(unsqueeze(inside, 1), latest, past.latest);
  if (!inside.defined() && !past.visible.defined()) return next;
  const auto all_true = [&](const Shape& shape) { return eq(zeros(shape), 0); };
  const std::int64_t batch = state.size(0);
  const Tensor before = past.visible.defined() ? past.visible : all_true({batch, past.size()});
  next.visible = append(before, inside.defined() ? inside : all_true({batch}));
  return next;
}

// [batch, past] as a mask of one query: [batch, 1, past].
Tensor as_mask(const Tensor& visible) {
  return visible.defined() ? unsqueeze(visible, 1) : visible;
}

// The step, with zeros where sequences have ended.
AttentiveStep finished(const Tensor& output, const Tensor& weights, const PastStates& past,
                       const Tensor& inside) {
  if (!inside.defined()) return {output, weights, past};
  const Tensor ended = unsqueeze(logical_not(inside), 1);
  return {masked_fill(output, ended, 0), masked_fill(weights, ended, 0), past};
}

template <class Layer>
AttentiveOutput run(const char* name, const Layer& layer, const Tensor& x, const Tensor& lengths,
                    PastStates past) {
  const Scope scope(name);
  check(x.dim() == 3 && x.size(2) == layer.cell.in_size(),
        "{}: x must be [batch, time, {}], got shape {}", name, layer.cell.in_size(), x.shape());
  const std::int64_t batch = x.size(0), time = x.size(1), all = past.size() + time;
  Tensor inside, inputs = x;
  if (lengths.defined()) {
    check(lengths.shape() == Shape{batch}, "{}: lengths must be [batch], got {} for batch {}", name,
          lengths.shape(), batch);
    inside = squeeze(padding_mask(lengths, time), 1);
    inputs = masked_fill(x, unsqueeze(logical_not(inside), 2), 0);
  }
  if (time == 0) {
    return {zeros({batch, 0, layer.cell.hidden_size()}, x.dtype()),
            zeros({batch, 0, all}, x.dtype()), past};
  }
  std::vector<Tensor> outputs, weights;
  for (std::int64_t t = 0; t < time; ++t) {
    AttentiveStep step =
        layer.step(select(inputs, 1, t), past, inside.defined() ? select(inside, 1, t) : Tensor());
    outputs.push_back(step.output);
    weights.push_back(pad(step.weights, {{0, 0}, {0, all - step.weights.size(1)}}));
    past = std::move(step.past);
  }
  return {stack(outputs, 1), stack(weights, 1), past};
}

}  // namespace

PastStates PastStates::select_rows(const Tensor& rows) const {
  const auto chosen = [&](const Tensor& x) { return x.defined() ? index_select(x, 0, rows) : x; };
  return {chosen(states), chosen(keys), chosen(latest), chosen(visible)};
}

AttentiveRNN::AttentiveRNN(std::int64_t in, std::int64_t hidden, Rng& rng,
                           const RNNCellOptions& options)
    : cell(in, hidden, rng, options), score(AdditiveScore(hidden, hidden, hidden, rng)) {}

AttentiveStep AttentiveRNN::step(const Tensor& x, const PastStates& given,
                                 const Tensor& inside) const {
  const PastStates past = begun("AttentiveRNN", given, cell, cell.hidden_size(), x, inside);
  const auto [context, weights] =
      attend(attention_scores(score, past.latest, past.states), past.states, as_mask(past.visible));
  const Tensor h = cell(x, context);
  return finished(h, weights, extended(past, h, {}, h, inside), inside);
}

AttentiveOutput AttentiveRNN::operator()(const Tensor& x, const Tensor& lengths,
                                         const PastStates& past) const {
  return run("AttentiveRNN", *this, x, lengths, past);
}

LSTMN::LSTMN(std::int64_t in, std::int64_t hidden, Rng& rng, const LSTMCellOptions& options)
    : cell(in, hidden, rng, options), score(in + hidden, hidden, hidden, rng) {}

AttentiveStep LSTMN::step(const Tensor& x, const PastStates& given, const Tensor& inside) const {
  const std::int64_t hidden = cell.hidden_size();
  PastStates past = begun("LSTMN", given, cell, 2 * hidden, x, inside);
  if (!past.keys.defined()) past.keys = score.key_proj(slice(past.states, 2, 0, hidden));
  const Tensor scores = score.compare(concat({x, past.latest}, 1), past.keys);  // [batch, past]
  const auto [mixed, weights] = attend(scores, past.states, as_mask(past.visible));
  const LstmState summary{slice(mixed, 1, 0, hidden), slice(mixed, 1, hidden)};
  const LstmState next = cell(x, summary);
  return finished(
      next.h, weights,
      extended(past, concat({next.h, next.c}, 1), score.key_proj(next.h), summary.h, inside),
      inside);
}

AttentiveOutput LSTMN::operator()(const Tensor& x, const Tensor& lengths,
                                  const PastStates& past) const {
  return run("LSTMN", *this, x, lengths, past);
}

}  // namespace gradzoo::nn
