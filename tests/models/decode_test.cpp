// What searches share, and greedy search: with a model whose next token is known, and random ones.
#include "models/decode.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/ops.h"
#include "tests/models/toy.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

struct CounterState {
  Tensor left, next;  // how many tokens are still to come, and the next

  void select(const Tensor& rows) {
    left = index_select(left, 0, rows);
    next = index_select(next, 0, rows);
  }
};

// Answers 4, 5, 6, … and ends after as many tokens as the source is long.
struct Counter {
  mutable std::vector<std::int64_t> rows;  // at each step

  CounterState start(const Tensor&, const Tensor& lengths) const {
    return {lengths, full(lengths.shape(), 4, DType::i64)};
  }
  Tensor decode_step(const Tensor& tokens, CounterState& state) const {
    rows.push_back(tokens.size(0));
    const Tensor end = full_like(tokens, static_cast<double>(kEos));
    const Tensor answer = where(gt(state.left, 0), state.next, end);
    state = {state.left - 1, state.next + 1};
    return one_hot(answer, 12) * 50;
  }
};

using Ids = std::vector<std::int64_t>;

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }
const Tensor kSource = ids({{4, 5, 6}, {6, 4, 0}});
const Tensor kLengths = ids({3, 2});

Decoder counter(const Counter& model, const Tensor& lengths) {
  return Decoder(model, full({lengths.size(0), 5}, 4, DType::i64), lengths);
}

}  // namespace

TEST_CASE("greedy stops each row at its own end symbol") {
  const Counter model;
  const auto answers = greedy(counter(model, ids({2, 0, 5})), {.max_length = 10});
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].tokens == Ids{4, 5});
  CHECK(answers[1].tokens == Ids{});
  CHECK(answers[2].tokens == Ids{4, 5, 6, 7, 8});
  for (const Hypothesis& answer : answers) {
    CHECK(answer.finished);
    CHECK(answer.length() == static_cast<std::int64_t>(answer.tokens.size()) + 1);
  }
}

TEST_CASE("rows that have ended leave the batch, and the last one ends the search") {
  const Counter model;
  greedy(counter(model, ids({2, 0, 5})), {.max_length = 10});
  CHECK(model.rows == Ids{3, 2, 2, 1, 1, 1});
}

TEST_CASE("greedy gives what it has when the longest answer is reached, flagged") {
  const Counter model;
  const auto cut = greedy(counter(model, ids({5})), {.max_length = 3});
  CHECK(cut[0].tokens == Ids{4, 5, 6});
  CHECK_FALSE(cut[0].finished);
  CHECK(cut[0].length() == 3);
  const auto whole = greedy(counter(model, ids({2})), {.max_length = 3});
  CHECK(whole[0].tokens == Ids{4, 5});
  CHECK(whole[0].finished);
}

TEST_CASE("there is no end before the shortest length") {
  const test::Toy model{.bias = {0, 0, 9}};
  const auto free = greedy(Decoder(model, kSource, kLengths));
  const auto longer = greedy(Decoder(model, kSource, kLengths), {.min_length = 4});
  for (std::size_t b = 0; b < 2; ++b) {
    CHECK(free[b].length() == 1);
    CHECK(longer[b].length() == 4);
    CHECK(longer[b].finished);
  }
}

TEST_CASE("pad and begin symbol are never chosen, and keep their probability") {
  const test::Toy model{.bias = {9, 9}};
  const auto answers = greedy(Decoder(model, kSource, kLengths), {.max_length = 20});
  for (const Hypothesis& answer : answers) {
    for (const std::int64_t token : answer.tokens) CHECK(token > kEos);
    CHECK(answer.log_prob / static_cast<double>(answer.length()) < -8);
  }
}

TEST_CASE("the log-probability is that of the tokens under the whole vocabulary") {
  const test::Toy model{.vocab = 5, .seed = 3};
  const auto answer = greedy(Decoder(model, kSource, kLengths), {.max_length = 4})[1];
  const test::ToyState state = model.start(kSource, kLengths);
  double expected = 0;
  Ids tokens = answer.tokens;
  if (answer.finished) tokens.push_back(kEos);
  std::uint64_t past = test::Toy::hash(state.past[1], kBos);
  for (const std::int64_t token : tokens) {
    double total = 0;
    const std::vector<float> logits = model.logits_after(past);
    for (const float logit : logits) total += std::exp(logit);
    expected += logits[static_cast<std::size_t>(token)] - std::log(total);
    past = test::Toy::hash(past, token);
  }
  CHECK(answer.log_prob == doctest::Approx(expected).epsilon(1e-6));
  CHECK(answer.score == answer.log_prob);
}

TEST_CASE("greedy: ties give the lower id") {
  const test::Toy flat{.vocab = 6, .spread = 0};
  const auto ended = greedy(Decoder(flat, kSource, kLengths));
  CHECK(ended[0].tokens.empty());
  CHECK(ended[0].finished);
  const auto cut = greedy(Decoder(flat, kSource, kLengths), {.min_length = 3, .max_length = 3});
  CHECK(cut[0].tokens == Ids{kUnk, kUnk});
}

TEST_CASE("an answer does not depend on the batch it is in, or on padding") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const test::Toy model{.vocab = 9, .seed = seed};
    const auto both = greedy(Decoder(model, kSource, kLengths));
    const auto swapped = greedy(Decoder(model, ids({{6, 4, 8, 8}, {4, 5, 6, 0}}), ids({2, 3})));
    const auto alone = greedy(Decoder(model, ids({{6, 4}}), ids({2})));
    CHECK(both[0].tokens == swapped[1].tokens);
    CHECK(both[0].log_prob == swapped[1].log_prob);
    CHECK(both[1].tokens == swapped[0].tokens);
    CHECK(both[1].tokens == alone[0].tokens);
    CHECK(both[1].log_prob == alone[0].log_prob);
  }
}

TEST_CASE("a batch of no sources has no answers") {
  const test::Toy model;
  CHECK(greedy(Decoder(model, empty({0, 3}, DType::i64), empty({0}, DType::i64))).empty());
  CHECK(model.steps == 0);
}

TEST_CASE("lengths out of range are refused") {
  const test::Toy model;
  const auto run = [&](const LengthLimits& limits) {
    return greedy(Decoder(model, kSource, kLengths), limits);
  };
  CHECK_THROWS_WITH_AS(run({.max_length = 0}), "greedy: max_length must be at least 1, got 0",
                       Error);
  CHECK_THROWS_WITH_AS(run({.min_length = 6, .max_length = 5}),
                       "greedy: min_length must be from 0 to max_length (5), got 6", Error);
  CHECK_THROWS_WITH_AS(run({.min_length = -1, .max_length = 5}),
                       "greedy: min_length must be from 0 to max_length (5), got -1", Error);
}

TEST_CASE("logits that are not numbers, and tokens that are all impossible, are an error") {
  const double infinity = std::numeric_limits<double>::infinity();
  const test::Toy broken{.bias = {0, 0, 0, NAN}};
  CHECK_THROWS_WITH_AS(greedy(Decoder(broken, kSource, kLengths)),
                       "decoding: the model's logits are not numbers (NaN or infinity)", Error);
  const test::Toy endless{.bias = {0, 0, 0, 0, infinity}};
  CHECK_THROWS_WITH_AS(greedy(Decoder(endless, kSource, kLengths)),
                       "decoding: the model's logits are not numbers (NaN or infinity)", Error);
  const test::Toy stuck{.vocab = 4, .bias = {0, 0, -infinity, -infinity}};
  CHECK_THROWS_WITH_AS(greedy(Decoder(stuck, kSource, kLengths)),
                       "greedy: no token may follow after 0 tokens", Error);
}
