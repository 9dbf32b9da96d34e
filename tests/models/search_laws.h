// What holds for every search and every model: the laws, to be checked with any of them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/ops.h"
#include "models/beam_search.h"
#include "models/exhaustive.h"
#include "models/sample.h"
#include "models/score.h"

namespace gradzoo::test {

using models::Hypothesis;
using Answers = std::vector<std::vector<Hypothesis>>;

inline bool same_tokens(const Hypothesis& a, const Hypothesis& b) {
  return a.tokens == b.tokens && a.finished == b.finished;
}

// Answers that are the same to 1e-5. Where two scores of one list are closer than that, rounding
// may decide which comes first.
inline void check_same(const Answers& a, const Answers& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t source = 0; source < a.size(); ++source) {
    REQUIRE(a[source].size() == b[source].size());
    for (std::size_t i = 0; i < a[source].size(); ++i) {
      const Hypothesis &x = a[source][i], &y = b[source][i];
      CHECK(std::abs(x.score - y.score) < 1e-5);
      const auto close = [&](std::size_t j) {
        return j < a[source].size() && std::abs(a[source][j].score - x.score) < 2e-5;
      };
      if (close(i - 1) || close(i + 1) || i + 1 == a[source].size()) continue;
      CHECK(same_tokens(x, y));
      CHECK(std::abs(x.log_prob - y.log_prob) < 1e-5);
    }
  }
}

// Each answer as it must be, and its log_prob and score that of forced decoding.
template <class Model>
void check_answers(const Model& model, const Tensor& source, const Tensor& lengths,
                   const std::vector<Hypothesis>& answers, double alpha, std::int64_t max_length) {
  const Tensor forced = to(models::score(model, source, lengths, answers), DType::f64);
  const std::vector<double> sums = sum(forced, {1}).to_vector<double>();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Hypothesis& answer = answers[i];
    CHECK(std::abs(answer.log_prob - sums[i]) < 1e-5);
    const double length = static_cast<double>(answer.tokens.size() + (answer.finished ? 1 : 0));
    CHECK(answer.score == doctest::Approx(answer.log_prob / std::pow(length, alpha)));
    CHECK(answer.length() <= max_length);
    CHECK((answer.finished || answer.length() == max_length));
    // Neither pad nor begin symbol, and nothing after an end symbol.
    for (const std::int64_t token : answer.tokens) CHECK(token > models::kEos);
  }
}

// Row `row` of the sources, times `count`.
inline Tensor repeated(const Tensor& x, std::int64_t row, std::size_t count) {
  return index_select(
      x, 0, full({static_cast<std::int64_t>(count)}, static_cast<double>(row), DType::i64));
}

template <class Model>
void check_all(const Model& model, const Tensor& source, const Tensor& lengths,
               const Answers& answers, double alpha, std::int64_t max_length) {
  for (std::size_t b = 0; b < answers.size(); ++b) {
    const std::int64_t row = static_cast<std::int64_t>(b);
    check_answers(model, repeated(source, row, answers[b].size()),
                  repeated(lengths, row, answers[b].size()), answers[b], alpha, max_length);
    for (std::size_t i = 1; i < answers[b].size(); ++i) {
      CHECK(answers[b][i - 1].score >= answers[b][i].score);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(same_tokens(answers[b][i], answers[b][j]));
    }
  }
}

template <class Model>
void law_beam_1_is_greedy(const Model& model, const Tensor& source, const Tensor& lengths) {
  for (const std::int64_t min_length : {0, 3}) {
    const auto greedy = models::greedy(models::Decoder(model, source, lengths),
                                       {.min_length = min_length, .max_length = 8});
    check_answers(model, source, lengths, greedy, 0, 8);
    for (const double alpha : {0.0, 1.0, 2.0}) {
      const Answers beam = models::beam_search(
          models::Decoder(model, source, lengths),
          {.beam = 1, .length_penalty = alpha, .min_length = min_length, .max_length = 8});
      for (std::size_t b = 0; b < greedy.size(); ++b) {
        REQUIRE(beam[b].size() == 1);
        CHECK(same_tokens(beam[b][0], greedy[b]));
        CHECK(beam[b][0].log_prob == doctest::Approx(greedy[b].log_prob).epsilon(1e-5));
      }
    }
  }
}

// Of all answers, and of the best alone, for which the search may stop early.
template <class Model>
void law_wide_beam_is_exhaustive(const Model& model, const Tensor& source, const Tensor& lengths,
                                 std::int64_t max_length) {
  constexpr std::int64_t wide = 400;
  for (const double alpha : {0.0, 0.6, 1.0, 2.5}) {
    for (const std::int64_t n_best : {std::int64_t{1}, std::int64_t{5}, wide}) {
      const Answers beam = models::beam_search(
          models::Decoder(model, source, lengths),
          {.beam = wide, .length_penalty = alpha, .max_length = max_length, .n_best = n_best});
      const Answers all =
          models::exhaustive(models::Decoder(model, source, lengths),
                             {.length_penalty = alpha, .max_length = max_length, .n_best = n_best});
      check_same(beam, all);
    }
  }
}

template <class Model>
void law_scores(const Model& model, const Tensor& source, const Tensor& lengths) {
  for (const std::int64_t beam : {1, 2, 3, 5, 12}) {
    for (const double alpha : {0.0, 0.6, 1.3}) {
      const Answers answers = models::beam_search(
          models::Decoder(model, source, lengths),
          {.beam = beam, .length_penalty = alpha, .max_length = 7, .n_best = beam});
      check_all(model, source, lengths, answers, alpha, 7);
    }
  }
}

// Alone, in another order, with more padding, with fewer answers asked for.
template <class Model>
void law_batch(const Model& model, const Tensor& source, const Tensor& lengths) {
  for (const std::int64_t n_best : {1, 4}) {
    const models::BeamOptions options{.beam = 4, .max_length = 8, .n_best = n_best};
    const auto run = [&](const Tensor& sources, const Tensor& of_lengths) {
      return models::beam_search(models::Decoder(model, sources, of_lengths), options);
    };
    const Answers together = run(source, lengths);
    Answers reversed = run(flip(source, {0}), flip(lengths, {0}));
    std::reverse(reversed.begin(), reversed.end());
    check_same(together, reversed);
    check_same(together, run(pad(source, {{0, 3}}, 4), lengths));
    models::BeamOptions all = options;
    all.n_best = 4;
    Answers of_all = models::beam_search(models::Decoder(model, source, lengths), all);
    for (std::size_t b = 0; b < together.size(); ++b) {
      const std::int64_t row = static_cast<std::int64_t>(b);
      const std::int64_t length = static_cast<std::int64_t>(lengths.at({row}));
      const Answers alone =
          run(slice(slice(source, 0, row, row + 1), 1, 0, length), slice(lengths, 0, row, row + 1));
      check_same({together[b]}, alone);
      of_all[b].resize(std::min(of_all[b].size(), static_cast<std::size_t>(n_best)));
    }
    check_same(together, of_all);
  }
}

// All laws of searches. Every source must have at least one token; at most 6 ids beside the
// special ones.
template <class Model>
void check_search_laws(const Model& model, const Tensor& source, const Tensor& lengths) {
  law_beam_1_is_greedy(model, source, lengths);
  law_wide_beam_is_exhaustive(model, source, lengths, 3);
  law_scores(model, source, lengths);
  law_batch(model, source, lengths);
}

}  // namespace gradzoo::test
