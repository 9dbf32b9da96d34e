// Attention scores: closed forms by hand, errors, all gradients by finite differences.
#include "nn/scores.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

Tensor f64(const Nested& values) { return tensor(values, DType::f64); }

// One of each, for queries of width d_q and keys of width d_k (the dot ones only where equal).
std::vector<AttentionScore> all_scores(std::int64_t d_q, std::int64_t d_k) {
  Rng rng(5);
  std::vector<AttentionScore> scores;
  if (d_q == d_k) scores = {DotScore(), ScaledDotScore()};
  scores.push_back(nn::to(GeneralScore(d_q, d_k, rng), DType::f64));
  scores.push_back(nn::to(ReducedRankScore(d_q, d_k, 2, rng), DType::f64));
  scores.push_back(nn::to(AdditiveScore(d_q, d_k, 5, rng), DType::f64));
  return scores;
}

// What the parameters of a variant hang on.
struct Holder {
  AttentionScore score;
  static void fields(auto& self, auto&& visit) { visit("score", self.score); }
};

// Two queries and two keys, for values worked out by hand.
const Nested kQueries = {{{1, 2}, {0, -1}}};
const Nested kKeys = {{{3, 1}, {-2, 4}}};

void check_values(const Tensor& scores, const std::vector<double>& want) {
  REQUIRE(scores.numel() == static_cast<std::int64_t>(want.size()));
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(scores.to_vector<double>()[i] == doctest::Approx(want[i]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("DotScore and ScaledDotScore on two queries and two keys") {
  // s1 = (1, 2), s2 = (0, -1); h1 = (3, 1), h2 = (-2, 4).
  // s1 h1 = 3 + 2 = 5, s1 h2 = -2 + 8 = 6, s2 h1 = -1, s2 h2 = -4.
  const Tensor dot = DotScore()(f64(kQueries), f64(kKeys));
  CHECK(dot.shape() == Shape{1, 2, 2});
  check_values(dot, {5, 6, -1, -4});
  const double root = std::sqrt(2.0);  // d = 2
  check_values(ScaledDotScore()(f64(kQueries), f64(kKeys)),
               {5 / root, 6 / root, -1 / root, -4 / root});
}

TEST_CASE("GeneralScore is s^T W h, and the dot product for W = 1") {
  Rng rng(1);
  GeneralScore score = nn::to(GeneralScore(2, 2, rng), DType::f64);
  assign(score.weight, f64({{1, 0}, {0, 1}}));
  check_values(score(f64(kQueries), f64(kKeys)), {5, 6, -1, -4});
  // W = [[1, 2], [0, 3]]: W h1 = (3 + 2, 3) = (5, 3), W h2 = (-2 + 8, 12) = (6, 12);
  // s1 (5, 3) = 11, s1 (6, 12) = 30, s2 (5, 3) = -3, s2 (6, 12) = -12.
  assign(score.weight, f64({{1, 2}, {0, 3}}));
  check_values(score(f64(kQueries), f64(kKeys)), {11, 30, -3, -12});
}

TEST_CASE("ReducedRankScore is GeneralScore with W = U^T V") {
  Rng rng(1);
  const auto low = nn::to(ReducedRankScore(3, 4, 2, rng), DType::f64);
  auto full = nn::to(GeneralScore(3, 4, rng), DType::f64);
  assign(full.weight, matmul(transpose(low.query_proj.weight), low.key_proj.weight).detach());
  const Tensor query = test::input({2, 5, 3}, 1), keys = test::input({2, 6, 4}, 2);
  CHECK(test::max_difference(low(query, keys), full(query, keys)) < 1e-12);
  // Rank 1 by hand: U = (1, 1), V = (2, -1): U s1 = 3, U s2 = -1, V h1 = 5, V h2 = -8.
  const auto one = nn::to(ReducedRankScore(2, 2, 1, rng), DType::f64);
  assign(one.query_proj.weight, f64({{1, 1}}));
  assign(one.key_proj.weight, f64({{2, -1}}));
  check_values(one(f64(kQueries), f64(kKeys)), {15, -24, -5, 8});
}

TEST_CASE("AdditiveScore is v^T tanh(W1 h + W2 s)") {
  Rng rng(1);
  const auto score = nn::to(AdditiveScore(2, 2, 2, rng), DType::f64);
  assign(score.key_proj.weight, f64({{0.5, 0}, {0, 0.25}}));    // W1
  assign(score.query_proj.weight, f64({{1, 0}, {0.5, -0.5}}));  // W2
  assign(score.v, f64({2, -3}));
  // W1 h1 = (1.5, 0.25), W1 h2 = (-1, 1); W2 s1 = (1, 0.5 - 1) = (1, -0.5), W2 s2 = (0, 0.5).
  // Sums: s1 h1 (2.5, -0.25), s1 h2 (0, 0.5), s2 h1 (1.5, 0.75), s2 h2 (-1, 1.5).
  check_values(
      score(f64(kQueries), f64(kKeys)),
      {2 * std::tanh(2.5) - 3 * std::tanh(-0.25), -3 * std::tanh(0.5),
       2 * std::tanh(1.5) - 3 * std::tanh(0.75), 2 * std::tanh(-1.0) - 3 * std::tanh(1.5)});
}

TEST_CASE("the query of a decoder step scores as a sequence of one query does") {
  for (const AttentionScore& score : all_scores(4, 4)) {
    const Tensor query = test::input({3, 4}, 1), keys = test::input({3, 5, 4}, 2);
    const Tensor one = attention_scores(score, query, keys);
    CHECK(one.shape() == Shape{3, 5});
    const Tensor sequence = attention_scores(score, unsqueeze(query, 1), keys);
    CHECK(sequence.shape() == Shape{3, 1, 5});
    CHECK(test::max_difference(one, squeeze(sequence, 1)) < 1e-12);
  }
}

TEST_CASE("keys prepared once score as those prepared each time") {
  for (const AttentionScore& score : all_scores(4, 4)) {
    CAPTURE(score.index());
    const Tensor query = test::input({3, 2, 4}, 1), keys = test::input({3, 5, 4}, 2);
    const Tensor prepared = prepare_keys(score, keys);
    CHECK(prepared.size(2) == std::array{4, 4, 4, 2, 5}[score.index()]);
    CHECK(prepared_scores(score, query, prepared).to_vector<double>() ==
          attention_scores(score, query, keys).to_vector<double>());
    CHECK(prepared_scores(score, select(query, 1, 0), prepared).to_vector<double>() ==
          attention_scores(score, select(query, 1, 0), keys).to_vector<double>());
    CHECK_THROWS_AS(prepared_scores(score, query, test::input({3, 5, 3}, 2)), Error);
  }
}

TEST_CASE("a score is made by its kind") {
  Rng rng(6);
  CHECK(!make_score(ScoreKind::none, 4, 2, rng).has_value());
  for (int i = 0; i < 5; ++i) {
    const auto score = make_score(static_cast<ScoreKind>(i + 1), 4, 2, rng);
    REQUIRE(score.has_value());
    CHECK(score->index() == static_cast<std::size_t>(i));
    CHECK(parameter_count(Holder{*score}) ==
          std::array{0, 0, 4 * 4, 2 * 2 * 4, 2 * 4 * 4 + 4}[static_cast<std::size_t>(i)]);
  }
  CHECK_THROWS_WITH_AS(make_score(static_cast<ScoreKind>(6), 4, 2, rng),
                       "make_score: no kind of score has the number 6", Error);
}

TEST_CASE("scores of no batch, no queries, no keys are empty") {
  for (const AttentionScore& score : all_scores(3, 3)) {
    const auto shape = [&](const Shape& q, const Shape& k) {
      return attention_scores(score, test::input(q, 1), test::input(k, 2)).shape();
    };
    CHECK(shape({0, 2, 3}, {0, 4, 3}) == Shape{0, 2, 4});
    CHECK(shape({2, 0, 3}, {2, 4, 3}) == Shape{2, 0, 4});
    CHECK(shape({2, 2, 3}, {2, 0, 3}) == Shape{2, 2, 0});
    CHECK(shape({2, 3}, {2, 0, 3}) == Shape{2, 0});
  }
}

TEST_CASE("gradients of attention scores, equal and unequal widths, sequences and steps") {
  for (const std::int64_t d_k : {3, 4}) {
    for (const AttentionScore& score : all_scores(3, d_k)) {
      CAPTURE(score.index());
      const auto f = [&](const std::vector<Tensor>& in) {
        return attention_scores(score, in[0], in[1]);
      };
      for (const Shape& query : {Shape{2, 3, 3}, Shape{2, 3}, Shape{1, 1, 3}}) {
        const std::vector<Tensor> inputs{test::input(query, 1), test::input({query[0], 2, d_k}, 2)};
        const auto first = nn::gradcheck(Holder{score}, f, inputs);
        CHECK_MESSAGE(first.ok, first.report);
        const auto second = nn::gradgradcheck(Holder{score}, f, inputs);
        CHECK_MESSAGE(second.ok, second.report);
      }
    }
  }
}

TEST_CASE("parameters of attention scores: the formulas on paper, found through the variant") {
  Rng rng(1);
  CHECK(nn::parameter_count(Holder{DotScore()}) == 0);
  CHECK(nn::parameter_count(Holder{ScaledDotScore()}) == 0);
  CHECK(nn::parameter_count(Holder{GeneralScore(3, 4, rng)}) == 3 * 4);
  CHECK(nn::parameter_count(Holder{ReducedRankScore(3, 4, 2, rng)}) == 2 * (3 + 4));
  CHECK(nn::parameter_count(Holder{AdditiveScore(3, 4, 5, rng)}) == 5 * (3 + 4 + 1));
  CHECK(nn::named_parameters(Holder{AdditiveScore(3, 4, 5, rng)}).back().first == "score.v");
}

TEST_CASE("attention scores refuse what does not fit, with the shapes") {
  Rng rng(1);
  CHECK_THROWS_WITH_AS(DotScore()(ones({2, 3}), ones({2, 5, 4})),
                       "DotScore: query and keys must have one width, got [2, 3] and [2, 5, 4]",
                       Error);
  CHECK_THROWS_WITH_AS(
      ScaledDotScore()(ones({2, 3}), ones({2, 5, 4})),
      "ScaledDotScore: query and keys must have one width, got [2, 3] and [2, 5, 4]", Error);
  CHECK_THROWS_WITH_AS(DotScore()(ones({2, 1, 3}), ones({1, 5, 3})),
                       "DotScore: query and keys must have one batch, got [2, 1, 3] and [1, 5, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(
      DotScore()(ones({3}), ones({5, 3})),
      "DotScore: query must be [batch, queries, d_q] or [batch, d_q] and keys [batch, keys, d_k], "
      "got [3] and [5, 3]",
      Error);
  const char* swapped =
      "{}: made for queries of width 3 and keys of width 4, got [2, 4] and [2, 5, 3]";
  const Tensor query = ones({2, 4}), keys = ones({2, 5, 3});
  CHECK_THROWS_WITH_AS(GeneralScore(3, 4, rng)(query, keys),
                       fmt::format(fmt::runtime(swapped), "GeneralScore").c_str(), Error);
  CHECK_THROWS_WITH_AS(ReducedRankScore(3, 4, 2, rng)(query, keys),
                       fmt::format(fmt::runtime(swapped), "ReducedRankScore").c_str(), Error);
  CHECK_THROWS_WITH_AS(AdditiveScore(3, 4, 2, rng)(query, keys),
                       fmt::format(fmt::runtime(swapped), "AdditiveScore").c_str(), Error);
  CHECK_THROWS_WITH_AS(GeneralScore(0, 4, rng),
                       "GeneralScore: the widths must be at least 1, got d_q 0 and d_k 4", Error);
  CHECK_THROWS_AS(ReducedRankScore(3, 4, 0, rng), Error);
  CHECK_THROWS_AS(AdditiveScore(3, 0, 2, rng), Error);
}

TEST_CASE("AdditiveScore starts with v in ±1/sqrt(width), as a Linear of that width would") {
  Rng rng(9);
  const double largest = max(abs(AdditiveScore(3, 4, 400, rng).v)).item();
  CHECK(largest <= 0.05 + 1e-8);
  CHECK(largest > 0.049);
}
