// Exhaustive search, against counting by hand and a recursion that knows the model.
#include "models/exhaustive.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/models/search_laws.h"
#include "tests/models/toy.h"

using namespace gradzoo;
using namespace gradzoo::models;
using test::Toy;

namespace {

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

const Tensor kSource = ids({{4, 5, 6}, {6, 4, 0}});
const Tensor kLengths = ids({3, 2});

// All answers that begin with these tokens.
void recurse(const Toy& model, std::uint64_t past, const Hypothesis& begun, std::size_t min_length,
             std::size_t max_length, std::vector<Hypothesis>& all) {
  const std::vector<float> logits = model.logits_after(past);
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit));
  for (std::int64_t id = kEos; id < model.vocab; ++id) {
    if (id == kEos && begun.tokens.size() + 1 < min_length) continue;
    Hypothesis next = begun;
    next.log_prob += logits[static_cast<std::size_t>(id)] - std::log(total);
    next.finished = id == kEos;
    if (!next.finished) next.tokens.push_back(id);
    if (next.finished || next.tokens.size() == max_length) {
      all.push_back(next);
    } else {
      recurse(model, Toy::hash(past, id), next, min_length, max_length, all);
    }
  }
}

}  // namespace

TEST_CASE("all answers are found, with their scores, the best first") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const std::int64_t min_length : {0, 3}) {
      const Toy model{.vocab = 6, .seed = seed};
      const auto found = exhaustive(
          Decoder(model, kSource, kLengths),
          {.length_penalty = 0.7, .min_length = min_length, .max_length = 4, .n_best = 1000});
      const test::ToyState state = model.start(kSource, kLengths);
      for (std::size_t b = 0; b < 2; ++b) {
        std::vector<Hypothesis> all;
        recurse(model, Toy::hash(state.past[b], kBos), {}, static_cast<std::size_t>(min_length), 4,
                all);
        for (Hypothesis& answer : all) {
          answer.score = answer.log_prob / std::pow(static_cast<double>(answer.length()), 0.7);
        }
        std::sort(all.begin(), all.end(),
                  [](const Hypothesis& x, const Hypothesis& y) { return x.score > y.score; });
        REQUIRE(found[b].size() == all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
          CHECK(test::same_tokens(found[b][i], all[i]));
          CHECK(found[b][i].score == doctest::Approx(all[i].score).epsilon(1e-6));
        }
      }
    }
  }
}

TEST_CASE("how many there are: the end after each length, and what is cut") {
  const Toy model{.vocab = 6};  // three ids beside pad, begin and end
  const auto all = exhaustive(Decoder(model, kSource, kLengths), {.max_length = 4, .n_best = 1000});
  CHECK(all[0].size() == 1 + 3 + 9 + 27 + 81);
  CHECK(std::count_if(all[0].begin(), all[0].end(),
                      [](const Hypothesis& a) { return !a.finished; }) == 81);
  double probability = 0;
  for (const Hypothesis& answer : all[1]) probability += std::exp(answer.log_prob);
  CHECK(probability < 1);  // pad and begin symbol have the rest
  const Toy only_special{.vocab = 3};
  const auto one =
      exhaustive(Decoder(only_special, kSource, kLengths), {.max_length = INT64_MAX, .n_best = 5});
  CHECK(one[0].size() == 1);
}

TEST_CASE("without pad and begin symbol the answers share all the probability") {
  const double impossible = -std::numeric_limits<double>::infinity();
  const Toy model{.vocab = 6, .bias = {impossible, impossible}};
  const auto all = exhaustive(Decoder(model, kSource, kLengths), {.max_length = 4, .n_best = 1000});
  for (const auto& answers : all) {
    double probability = 0;
    for (const Hypothesis& answer : answers) probability += std::exp(answer.log_prob);
    CHECK(probability == doctest::Approx(1).epsilon(1e-9));
  }
}

TEST_CASE("too many answers are refused before they are looked at, and options out of range") {
  const Toy big{.vocab = 103};
  CHECK_THROWS_WITH_AS(
      exhaustive(Decoder(big, kSource, kLengths), {.max_length = 3}),
      "exhaustive: 2 sources, 103 ids and max_length 3 make more than 1000000 answers", Error);
  CHECK(big.steps == 1);
  exhaustive(Decoder(big, kSource, kLengths), {.max_length = 2});
  const Toy model;
  const auto refused = [&](const ExhaustiveOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(exhaustive(Decoder(model, kSource, kLengths), options), message, Error);
  };
  refused({.n_best = 0}, "exhaustive: n_best must be at least 1, got 0");
  refused({.length_penalty = -1}, "exhaustive: length_penalty must be at least 0, got -1");
  refused({.max_length = 0}, "exhaustive: max_length must be at least 1, got 0");
  const test::Script stuck{[](const std::vector<std::int64_t>&) -> std::vector<double> {
    return {1, 0, 0, 0};
  }};
  CHECK_THROWS_WITH_AS(exhaustive(Decoder(stuck, kSource, kLengths)),
                       "exhaustive: a source has no possible answer", Error);
}
