// Log-probabilities of given answers.
#include "models/score.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "tests/models/toy.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

struct Pairs {
  Tensor source, lengths, target_in, target_out;
};

}  // namespace

TEST_CASE("each target's log-probability, 0 at padding") {
  const Tensor logits =
      tensor({{{0, 0, 0, 0, 0}, {0, 1, 2, 3, 4}}, {{9, 0, 0, 0, 9}, {1, 1, 1, 1, 1}}}, DType::f64);
  const Tensor scores = token_log_probs(logits, ids({{3, 2}, {4, 0}}));
  const double total = 1 + std::exp(1) + std::exp(2) + std::exp(3) + std::exp(4);
  CHECK(scores.at({0, 0}) == doctest::Approx(-std::log(5.0)));
  CHECK(scores.at({0, 1}) == doctest::Approx(2 - std::log(total)));
  CHECK(scores.at({1, 0}) == doctest::Approx(9 - std::log(2 * std::exp(9) + 3)));
  CHECK(scores.at({1, 1}) == 0);
}

TEST_CASE("a batch is scored, and so are answers, alike") {
  const test::Toy model{.vocab = 8};
  const Tensor source = ids({{4, 5, 6}, {6, 0, 0}}), lengths = ids({3, 1});
  const Pairs batch{source, lengths, ids({{1, 4, 5, 7}, {1, 6, 0, 0}}),
                    ids({{4, 5, 7, 2}, {6, 2, 0, 0}})};
  const Tensor scores = score(model, batch);
  CHECK(scores.shape() == Shape{2, 4});
  const std::vector<Hypothesis> answers{{{4, 5, 7}, 0, 0, true}, {{6}, 0, 0, true}};
  CHECK(test::max_difference(scores, score(model, source, lengths, answers)) == 0);
  CHECK_FALSE(scores.requires_grad());
}

TEST_CASE("answers as targets: what is not finished has no end symbol") {
  const std::vector<Hypothesis> answers{
      {{4, 5}, 0, 0, true}, {{6, 7}, 0, 0, false}, {{}, 0, 0, true}};
  const Targets targets = targets_of(answers);
  CHECK(targets.in.to_vector<std::int64_t>() ==
        ids({{1, 4, 5}, {1, 6, 7}, {1, 2, 0}}).to_vector<std::int64_t>());
  CHECK(targets.out.to_vector<std::int64_t>() ==
        ids({{4, 5, 2}, {6, 7, 0}, {2, 0, 0}}).to_vector<std::int64_t>());
  CHECK(targets_of({}).in.shape() == Shape{0, 0});
}

TEST_CASE("logits and targets that do not fit are refused") {
  CHECK_THROWS_WITH_AS(
      token_log_probs(zeros({2, 3, 5}), ids({{1, 2}, {1, 2}})),
      "score: logits must be [batch, time, vocab] and targets i64 [batch, time], got [2, 3, 5] and "
      "i64 [2, 2]",
      Error);
}
