// All sequences, length by length: the rows of the decoder are all beginnings of one length.
#include "models/exhaustive.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradzoo::models {
namespace {

void check_count(std::int64_t rows, std::int64_t vocab, std::int64_t max_length) {
  const double ordinary = static_cast<double>(vocab - 3);
  double count = 0;
  double more = static_cast<double>(rows);
  for (std::int64_t i = 0; i <= max_length && more > 0; ++i, more *= ordinary) {
    count += more;
    check(count <= static_cast<double>(kMostAnswers),
          "exhaustive: {} sources, {} ids and max_length {} make more than {} answers", rows, vocab,
          max_length, kMostAnswers);
  }
}

// All continuations, sorted only so that ties come out as they do in beam search.
std::vector<Continuation> all_continuations(const std::vector<Open>& open, const Choices& choices) {
  std::vector<Continuation> all;
  for (std::size_t i = 0; i < choices.log_probs.size(); ++i) {
    if (choices.log_probs[i] == -INFINITY) continue;
    const std::size_t row = choices.row(i);
    all.push_back({open[row].log_prob + choices.log_probs[i], choices.token(i), row});
  }
  std::sort(all.begin(), all.end(), likelier);
  return all;
}

}  // namespace

std::vector<std::vector<Hypothesis>> exhaustive(Decoder decoder, const ExhaustiveOptions& options) {
  check_limits("exhaustive", {options.min_length, options.max_length});
  check_length_penalty("exhaustive", options.length_penalty);
  check(options.n_best >= 1, "exhaustive: n_best must be at least 1, got {}", options.n_best);
  std::vector<std::vector<Hypothesis>> answers(static_cast<std::size_t>(decoder.rows()));
  std::vector<Open> open = first_open(decoder);
  Tensor tokens = decoder.first_tokens();
  for (std::int64_t length = 1; !open.empty(); ++length) {
    const Choices choices =
        next_tokens(decoder, tokens, {.may_end = length >= options.min_length, .best = 0});
    if (length == 1) check_count(decoder.rows(), choices.width, options.max_length);
    std::vector<Open> longer;
    for (const Continuation& c : all_continuations(open, choices)) {
      const Open& parent = open[c.row];
      if (c.token == kEos || length == options.max_length) {
        answers[parent.source].push_back(answer_of(parent.tokens, c, options.length_penalty));
      } else {
        longer.push_back(parent.longer_by(c));
      }
    }
    tokens = move_on(decoder, longer);
    open = std::move(longer);
  }
  for (std::vector<Hypothesis>& best : answers) {
    check(!best.empty(), "exhaustive: a source has no possible answer");
    keep_best(best, options.n_best);
  }
  return answers;
}

}  // namespace gradzoo::models
