// Sampling: frequencies, what top_k and top_p leave, and that a row's draws are its own.
#include "models/sample.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "models/transformer.h"
#include "tests/models/search_laws.h"
#include "tests/models/toy.h"

using namespace gradzoo;
using namespace gradzoo::models;
using test::Script;
using test::Toy;

namespace {

using Ids = std::vector<std::int64_t>;

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

const Tensor kSource = ids({{4, 5, 6}, {6, 4, 0}, {5, 5, 0}});
const Tensor kLengths = ids({3, 2, 2});

// How often each token is drawn, of 20000, from these probabilities (of pad, begin, end, …).
std::map<std::int64_t, double> frequencies(const std::vector<double>& probabilities,
                                           SampleOptions options) {
  const Script model{[&](const Ids&) { return probabilities; }};
  constexpr std::int64_t rows = 20000;
  options.max_length = 1;
  std::map<std::int64_t, double> result;
  for (const Hypothesis& answer :
       sample(Decoder(model, full({rows, 1}, 4, DType::i64), ones({rows}, DType::i64)), options)) {
    result[answer.finished ? kEos : answer.tokens[0]] += 1.0 / rows;
  }
  return result;
}

void check_frequencies(const std::map<std::int64_t, double>& got,
                       const std::map<std::int64_t, double>& expected) {
  CHECK(got.size() == expected.size());
  for (const auto& [token, p] : expected) {
    REQUIRE(got.count(token) == 1);
    CHECK(std::abs(got.at(token) - p) < 4 * std::sqrt(p * (1 - p) / 20000) + 1e-9);
  }
}

const std::vector<double> kProbabilities{0.1, 0.1, 0.2, 0.06, 0.3, 0, 0.24};

}  // namespace

TEST_CASE("tokens are drawn as often as the model says, pad and begin symbol left out") {
  check_frequencies(frequencies(kProbabilities, {}), {{2, 0.25}, {3, 0.075}, {4, 0.375}, {6, 0.3}});
}

TEST_CASE("temperature: a power of the probabilities") {
  const auto power = [](double temperature) {
    std::map<std::int64_t, double> expected;
    double total = 0;
    for (const std::size_t id : {2, 3, 4, 6}) {
      total += std::pow(kProbabilities[id], 1 / temperature);
    }
    for (const std::size_t id : {2, 3, 4, 6}) {
      expected[static_cast<std::int64_t>(id)] =
          std::pow(kProbabilities[id], 1 / temperature) / total;
    }
    return expected;
  };
  for (const double temperature : {0.5, 2.0}) {
    check_frequencies(frequencies(kProbabilities, {.temperature = temperature}),
                      power(temperature));
  }
  CHECK(frequencies(kProbabilities, {.temperature = 1e-300}).at(4) == doctest::Approx(1));
  CHECK(frequencies(kProbabilities, {.temperature = 1e300}).size() == 4);
}

TEST_CASE("top_k: the k likeliest, ties to the lower id") {
  check_frequencies(frequencies(kProbabilities, {.top_k = 2}), {{4, 5. / 9}, {6, 4. / 9}});
  CHECK(frequencies(kProbabilities, {.top_k = 1}).at(4) == doctest::Approx(1));
  check_frequencies(frequencies(kProbabilities, {.top_k = 100}),
                    {{2, 0.25}, {3, 0.075}, {4, 0.375}, {6, 0.3}});
  check_frequencies(frequencies({0, 0, 0.25, 0.25, 0.25, 0.25}, {.top_k = 2}),
                    {{2, 0.5}, {3, 0.5}});
}

TEST_CASE("top_p: the fewest that have this probability, after temperature and top_k") {
  // Of those that may come: 4 has 0.375, 6 has 0.3, 2 has 0.25.
  check_frequencies(frequencies(kProbabilities, {.top_p = 0.37}), {{4, 1}});
  check_frequencies(frequencies(kProbabilities, {.top_p = 0.4}), {{4, 5. / 9}, {6, 4. / 9}});
  check_frequencies(frequencies(kProbabilities, {.top_p = 0.7}),
                    {{2, 0.2 / 0.74}, {4, 0.3 / 0.74}, {6, 0.24 / 0.74}});
  check_frequencies(frequencies(kProbabilities, {.top_p = 1e-9}), {{4, 1}});
  // Of the two likeliest 4 has 5/9.
  check_frequencies(frequencies(kProbabilities, {.top_k = 2, .top_p = 0.5}), {{4, 1}});
  check_frequencies(frequencies(kProbabilities, {.temperature = 1e6, .top_p = 0.9}),
                    {{2, 0.25}, {3, 0.25}, {4, 0.25}, {6, 0.25}});
}

TEST_CASE("top_p: ties at the edge go to the lower id") {
  check_frequencies(frequencies({0, 0, 0.25, 0.25, 0.25, 0.25}, {.top_p = 0.5}),
                    {{2, 0.5}, {3, 0.5}});
}

TEST_CASE("one token left, or a temperature near 0: greedy search") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Toy model{.vocab = 9, .seed = seed};
    const auto greedy_answers = greedy(Decoder(model, kSource, kLengths), {.max_length = 9});
    for (const SampleOptions& options : {SampleOptions{.top_k = 1, .max_length = 9},
                                         SampleOptions{.temperature = 1e-6, .max_length = 9},
                                         SampleOptions{.top_p = 1e-6, .max_length = 9}}) {
      const auto answers = sample(Decoder(model, kSource, kLengths), options);
      for (std::size_t b = 0; b < answers.size(); ++b) {
        CHECK(test::same_tokens(answers[b], greedy_answers[b]));
      }
    }
  }
}

TEST_CASE("the log-probability is the model's own, whatever was drawn from") {
  Rng rng(1);
  const Transformer model({.source_vocab = 7,
                           .target_vocab = 8,
                           .d_model = 8,
                           .num_heads = 2,
                           .num_encoder_layers = 1,
                           .num_decoder_layers = 1,
                           .d_ff = 12,
                           .max_length = 16},
                          rng);
  for (const SampleOptions& options :
       {SampleOptions{.max_length = 6},
        SampleOptions{.temperature = 3, .top_k = 4, .max_length = 6},
        SampleOptions{.top_p = 0.5, .min_length = 4, .max_length = 6}}) {
    const auto answers = sample(Decoder(model, kSource, kLengths), options);
    test::check_answers(model, kSource, kLengths, answers, 0, 6);
    for (const Hypothesis& answer : answers) CHECK(answer.length() >= options.min_length);
  }
}

TEST_CASE("RNG1: a row's answer is a function of seed, stream and source") {
  const Toy model{.vocab = 20, .bias = {0, 0, 1}};
  const auto together = sample(Decoder(model, kSource, kLengths), {.seed = 7});
  const auto again = sample(Decoder(model, kSource, kLengths), {.seed = 7});
  const auto other = sample(Decoder(model, kSource, kLengths), {.seed = 8});
  const auto swapped = sample(Decoder(model, flip(kSource, {0}), flip(kLengths, {0})),
                              {.seed = 7, .streams = {2, 1, 0}});
  bool differs = false;
  for (std::size_t b = 0; b < 3; ++b) {
    const std::int64_t row = static_cast<std::int64_t>(b);
    const auto alone =
        sample(Decoder(model, slice(kSource, 0, row, row + 1), slice(kLengths, 0, row, row + 1)),
               {.seed = 7, .streams = {b}});
    CHECK(together[b].tokens == again[b].tokens);
    CHECK(together[b].tokens == alone[0].tokens);
    CHECK(together[b].log_prob == alone[0].log_prob);
    CHECK(together[b].tokens == swapped[2 - b].tokens);
    differs = differs || together[b].tokens != other[b].tokens;
  }
  CHECK(differs);
}

TEST_CASE("streams of one source differ") {
  const Toy model{.vocab = 20, .bias = {0, 0, -9}};
  const auto answers = sample(Decoder(model, full({2, 1}, 4, DType::i64), ones({2}, DType::i64)),
                              {.max_length = 20});
  CHECK(answers[0].tokens != answers[1].tokens);
  CHECK_FALSE(answers[0].finished);
}

TEST_CASE("options out of range are refused, and so is a model with nothing to choose") {
  const Toy model;
  const auto refused = [&](const SampleOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(sample(Decoder(model, kSource, kLengths), options), message, Error);
  };
  refused({.temperature = 0},
          "sample: temperature must be above 0, got 0; for the likeliest tokens use greedy search");
  refused(
      {.temperature = INFINITY},
      "sample: temperature must be above 0, got inf; for the likeliest tokens use greedy search");
  refused({.top_k = -1}, "sample: top_k must be at least 1, or 0 for all tokens, got -1");
  refused({.top_p = 0}, "sample: top_p must be above 0 and at most 1, got 0");
  refused({.top_p = 1.5}, "sample: top_p must be above 0 and at most 1, got 1.5");
  refused({.max_length = 0}, "sample: max_length must be at least 1, got 0");
  refused({.streams = {1, 2}}, "sample: 2 streams for 3 rows");
  const Script stuck{[](const Ids&) -> std::vector<double> { return {0, 1, 0, 0}; }};
  CHECK_THROWS_WITH_AS(sample(Decoder(stuck, kSource, kLengths)),
                       "sample: no token may follow after 0 tokens", Error);
}
