// The tokens of one step, and greedy search.
#include "models/decode.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/index.h"
#include "core/ops/order.h"
#include "core/ops/reduce.h"
#include "core/ops/softmax.h"
#include "core/ops/view.h"
#include "core/scope.h"

namespace gradzoo::models {

void check_limits(const char* op, const LengthLimits& limits) {
  check(limits.max_length >= 1, "{}: max_length must be at least 1, got {}", op, limits.max_length);
  check(limits.min_length >= 0 && limits.min_length <= limits.max_length,
        "{}: min_length must be from 0 to max_length ({}), got {}", op, limits.max_length,
        limits.min_length);
}

Choices next_tokens(Decoder& decoder, const Tensor& tokens, const ChoiceOptions& options) {
  const NoGrad no_grad;
  const Tensor logits = decoder.step(tokens);
  const std::int64_t vocab = logits.size(1);
  // Forbidden tokens keep their share of the probability: a search must not change what a model
  // says of the tokens it may choose.
  std::vector<std::int64_t> forbidden(static_cast<std::size_t>(vocab), 0);
  forbidden[kPad] = forbidden[kBos] = 1;
  forbidden[kEos] = options.may_end ? 0 : 1;
  const Tensor mask = to(from_vector(forbidden, {vocab}), DType::boolean);
  Tensor log_probs = masked_fill(log_softmax(to(logits, DType::f64)), mask, -INFINITY);

  Choices choices{vocab, {}, {}};
  if (options.best == 1) {  // faster than the k best
    choices.width = 1;
    const Tensor best = argmax(log_probs, 1, true);
    log_probs = gather(log_probs, 1, best);
    choices.ids = best.to_vector<std::int64_t>();
  } else if (options.best > 1) {
    choices.width = std::min(options.best, vocab);
    const Ordered best = topk(log_probs, choices.width);
    log_probs = best.values;
    choices.ids = best.indices.to_vector<std::int64_t>();
  }
  choices.log_probs = log_probs.to_vector<double>();
  // NaN sorts before all numbers, so it is seen among the best as well.
  for (const double p : choices.log_probs) {
    check(!std::isnan(p), "decoding: the model's logits are not numbers (NaN or infinity)");
  }
  return choices;
}

Open Open::longer_by(const Continuation& next) const {
  Open longer{source, tokens, next.log_prob, next.row};
  longer.tokens.push_back(next.token);
  return longer;
}

std::vector<Open> first_open(const Decoder& decoder) {
  std::vector<Open> open(static_cast<std::size_t>(decoder.rows()));
  for (std::size_t row = 0; row < open.size(); ++row) open[row].source = open[row].row = row;
  return open;
}

Tensor move_on(Decoder& decoder, const std::vector<Open>& open) {
  std::vector<std::int64_t> rows, last;
  for (const Open& hypothesis : open) {
    rows.push_back(static_cast<std::int64_t>(hypothesis.row));
    last.push_back(hypothesis.tokens.back());
  }
  const Shape shape{static_cast<std::int64_t>(open.size())};
  if (!open.empty()) decoder.select(from_vector(rows, shape));
  return from_vector(last, shape);
}

std::vector<Hypothesis> one_for_each_row(const char* op, Decoder decoder,
                                         const LengthLimits& limits, std::int64_t best,
                                         const Pick& pick) {
  check_limits(op, limits);
  std::vector<Hypothesis> answers(static_cast<std::size_t>(decoder.rows()));
  std::vector<std::size_t> open(answers.size());  // which answer each row of the decoder is
  std::iota(open.begin(), open.end(), 0);
  Tensor tokens = decoder.first_tokens();
  for (std::int64_t length = 1; length <= limits.max_length && !open.empty(); ++length) {
    const Choices choices =
        next_tokens(decoder, tokens, {.may_end = length >= limits.min_length, .best = best});
    const std::size_t width = static_cast<std::size_t>(choices.width);
    std::vector<std::int64_t> kept_rows, last;
    std::vector<std::size_t> still_open;
    for (std::size_t row = 0; row < open.size(); ++row) {
      Hypothesis& answer = answers[open[row]];
      const std::span log_probs(choices.log_probs.data() + row * width, width);
      const std::size_t place = pick(open[row], log_probs);
      check(log_probs[place] > -INFINITY, "{}: no token may follow after {} tokens", op,
            answer.tokens.size());
      answer.log_prob += log_probs[place];
      const std::int64_t token = choices.token(row * width + place);
      answer.finished = token == kEos;
      if (answer.finished) continue;
      answer.tokens.push_back(token);
      still_open.push_back(open[row]);
      kept_rows.push_back(static_cast<std::int64_t>(row));
      last.push_back(token);
    }
    const std::int64_t count = static_cast<std::int64_t>(last.size());
    if (count > 0) decoder.select(from_vector(kept_rows, {count}));
    tokens = from_vector(last, {count});
    open = std::move(still_open);
  }
  for (Hypothesis& answer : answers) answer.score = answer.log_prob;
  return answers;
}

std::vector<Hypothesis> greedy(Decoder decoder, const LengthLimits& limits) {
  return one_for_each_row("greedy", std::move(decoder), limits, 1,
                          [](std::size_t, std::span<const double>) { return std::size_t{0}; });
}

}  // namespace gradzoo::models
