// Scores and orders of answers.
#include "models/hypothesis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

using namespace gradzoo;
using namespace gradzoo::models;

TEST_CASE("the length penalty divides by a power of the length") {
  CHECK(length_normalised(-6, 3, 0) == -6);
  CHECK(length_normalised(-6, 3, 1) == -2);
  CHECK(length_normalised(-8, 4, 0.5) == -4);
  CHECK(length_normalised(-8, 2, 3) == -1);
  CHECK_NOTHROW(check_length_penalty("search", 0));
  CHECK_THROWS_WITH_AS(check_length_penalty("search", INFINITY),
                       "search: length_penalty must be at least 0, got inf", Error);
}

TEST_CASE("the best answers first, equal ones in the order they came in") {
  std::vector<Hypothesis> answers;
  for (const double score : {-2, -1, -2, -1, -3}) {
    answers.push_back({{static_cast<std::int64_t>(answers.size())}, 0, score, true});
  }
  keep_best(answers, 3);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].tokens[0] == 1);
  CHECK(answers[1].tokens[0] == 3);
  CHECK(answers[2].tokens[0] == 0);
  keep_best(answers, 9);
  CHECK(answers.size() == 3);
}

TEST_CASE("continuations: the likelier, then the lower id, then the lower row") {
  const std::vector<Continuation> sorted{
      {-1, 9, 9}, {-2, 3, 5}, {-2, 4, 1}, {-2, 4, 2}, {-3, 1, 0}};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      CHECK(likelier(sorted[i], sorted[j]) == (i < j));
    }
  }
}

TEST_CASE("an answer ends in an end symbol, which counts, or is cut") {
  const Hypothesis whole = answer_of({4, 5}, {-6, 2, 0}, 1);
  CHECK(whole.finished);
  CHECK(whole.tokens == std::vector<std::int64_t>{4, 5});
  CHECK(whole.length() == 3);
  CHECK(whole.log_prob == -6);
  CHECK(whole.score == -2);
  const Hypothesis cut = answer_of({4, 5}, {-6, 7, 0}, 1);
  CHECK_FALSE(cut.finished);
  CHECK(cut.tokens == std::vector<std::int64_t>{4, 5, 7});
  CHECK(cut.length() == 3);
  CHECK(cut.score == -2);
}
