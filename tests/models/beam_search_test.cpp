// Beam search: the laws, with random and trained models, and what went wrong elsewhere.
#include "models/beam_search.h"

#include <doctest/doctest.h>

#include <set>

#include "models/decoder_lm.h"
#include "models/rnn_seq2seq.h"
#include "models/transformer.h"
#include "nn/loss.h"
#include "nn/module.h"
#include "optim/adam.h"
#include "tests/models/search_laws.h"
#include "tests/models/toy.h"

using namespace gradzoo;
using namespace gradzoo::models;
using test::Answers;
using test::Script;
using test::Toy;

namespace {

using Ids = std::vector<std::int64_t>;

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

const Tensor kSource = ids({{4, 5, 6, 4}, {6, 4, 0, 0}, {5, 0, 0, 0}});
const Tensor kLengths = ids({4, 2, 1});
const Tensor kOne = ids({{4}}), kOneLength = ids({1});

Transformer small(std::uint64_t seed, bool norm_first, std::int64_t layers) {
  Rng rng(seed);
  return Transformer({.source_vocab = 7,
                      .target_vocab = 8,
                      .d_model = 8,
                      .num_heads = 2,
                      .num_encoder_layers = layers,
                      .num_decoder_layers = layers,
                      .d_ff = 12,
                      .dropout = 0,
                      .norm_first = norm_first,
                      .max_length = 16},
                     rng);
}

// Knows the answers 4 5 6, 7 and none, not by heart, but well.
Transformer trained() {
  Transformer model = small(5, true, 1);
  optim::Adam adam(nn::parameters(model), {.lr = 0.01});
  const Tensor in = ids({{1, 4, 5, 6}, {1, 7, 0, 0}, {1, 0, 0, 0}});
  const Tensor out = ids({{4, 5, 6, 2}, {7, 2, 0, 0}, {2, 0, 0, 0}});
  for (int step = 0; step < 100; ++step) {
    adam.zero_grad();
    nn::sequence_cross_entropy(model(kSource, kLengths, in), out).backward();
    adam.step();
  }
  return model;
}

Answers search(const auto& model, const BeamOptions& options) {
  return beam_search(Decoder(model, kSource, kLengths), options);
}

}  // namespace

TEST_CASE("the laws of searches hold for random models") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    test::check_search_laws(Toy{.seed = seed}, kSource, kLengths);
    test::check_search_laws(Toy{.vocab = 9, .seed = seed, .spread = 12}, kSource, kLengths);
    test::law_wide_beam_is_exhaustive(Toy{.vocab = 5, .seed = seed}, kSource, kLengths, 7);
  }
}

TEST_CASE("the laws of searches hold for random Transformers") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    test::check_search_laws(small(seed, seed == 1, 1), kSource, kLengths);
  }
}

TEST_CASE("the laws of searches hold for random recurrent models") {
  for (const bool attention : {false, true}) {
    Rng rng(attention ? 3 : 4);
    const RNNSeq2Seq model({.source_vocab = 7,
                            .target_vocab = 8,
                            .cell = attention ? nn::CellKind::lstm : nn::CellKind::gru,
                            .embedding_dim = 6,
                            .hidden_size = 8,
                            .num_layers = 2,
                            .bidirectional = true,
                            .attention = attention ? nn::ScoreKind::general : nn::ScoreKind::none,
                            .input_feeding = attention},
                           rng);
    test::check_search_laws(model, kSource, kLengths);
  }
}

TEST_CASE("the laws of searches hold for a random language model that reads a prefix") {
  Rng rng(6);
  const DecoderLM model({.vocab = 8,
                         .d_model = 8,
                         .num_heads = 2,
                         .num_layers = 2,
                         .d_ff = 12,
                         .dropout = 0,
                         .max_length = 24},
                        rng);
  test::check_search_laws(model, kSource, kLengths);
}

TEST_CASE("the laws of searches hold for a trained Transformer") {
  const Transformer model = trained();
  test::check_search_laws(model, kSource, kLengths);
  const Answers answers = search(model, {});
  CHECK(answers[0][0].tokens == Ids{4, 5, 6});
  CHECK(answers[1][0].tokens == Ids{7});
  CHECK(answers[2][0].tokens == Ids{});
}

TEST_CASE("ties: a wide beam gives what exhaustive search gives, answer for answer") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Toy model{.vocab = 6, .seed = seed, .spread = 2, .whole = true};
    for (const double alpha : {0.0, 1.0}) {
      for (const std::int64_t n_best : {1, 7, 200}) {
        const Answers beam = search(
            model, {.beam = 200, .length_penalty = alpha, .max_length = 4, .n_best = n_best});
        const Answers all =
            exhaustive(Decoder(model, kSource, kLengths),
                       {.length_penalty = alpha, .max_length = 4, .n_best = n_best});
        for (std::size_t b = 0; b < beam.size(); ++b) {
          REQUIRE(beam[b].size() == all[b].size());
          for (std::size_t i = 0; i < beam[b].size(); ++i) {
            CHECK(test::same_tokens(beam[b][i], all[b][i]));
            CHECK(beam[b][i].score == all[b][i].score);
          }
        }
      }
    }
  }
}

TEST_CASE("ties give the lower id, then the better parent, then the answer found earlier") {
  const Toy flat{.vocab = 6, .spread = 0};  // the ids that may come: 2 (end), 3, 4, 5
  const auto answers = search(flat, {.beam = 3, .max_length = 3, .n_best = 3})[0];
  REQUIRE(answers.size() == 3);
  // Step 1 keeps end, 3 and 4; step 2 the ends of both and 3 3; all have the same score.
  CHECK(answers[0].tokens == Ids{});
  CHECK(answers[1].tokens == Ids{3});
  CHECK(answers[2].tokens == Ids{4});
}

TEST_CASE("an answer found late wins when its mean is better") {
  // "4 4 4 … end" is certain once begun; the empty answer is likelier.
  const Script model{[](const Ids& past) -> std::vector<double> {
    if (past.empty()) return {0, 0, 0.6, 0, 0.4, 0};
    if (past.size() < 6) return {0, 0, 0, 0, 1, 0};
    return {0, 0, 1, 0, 0, 0};
  }};
  const auto mean = beam_search(Decoder(model, kOne, kOneLength), {.beam = 2});
  CHECK(mean[0][0].tokens == Ids(6, 4));
  CHECK(mean[0][0].score == doctest::Approx(std::log(0.4) / 7));
  const auto plain =
      beam_search(Decoder(model, kOne, kOneLength), {.beam = 2, .length_penalty = 0});
  CHECK(plain[0][0].tokens == Ids{});
}

TEST_CASE("a search ends as soon as no open hypothesis can win, and not before") {
  const auto steps = [](double p_end, double alpha, std::int64_t n_best) {
    // The answers are 4, 4 4, 4 4 4, …: at each place the end has probability p_end.
    const Script model{
        [&](const Ids&) -> std::vector<double> { return {0, 0, p_end, 0, 1 - p_end, 0}; }};
    beam_search(Decoder(model, kOne, kOneLength),
                {.beam = 3, .length_penalty = alpha, .max_length = 50, .n_best = n_best});
    return model.steps;
  };
  CHECK(steps(0.9, 0, 1) == 1);  // log 0.1 < log 0.9
  CHECK(steps(0.9, 0, 2) == 2);  // the second answer is there after two
  CHECK(steps(0.9, 0, 3) == 3);
  CHECK(steps(0.4, 0, 1) == 2);  // log 0.6 > log 0.4 >= log 0.36
  CHECK(steps(0.5, 0, 1) == 1);  // a tie is lost by what comes later
  // By the mean: the best so far, log 0.9, against t log 0.1 / 50, which is less from t = 3 on.
  CHECK(std::log(0.9) > 3 * std::log(0.1) / 50);
  CHECK(std::log(0.9) < 2 * std::log(0.1) / 50);
  CHECK(steps(0.9, 1, 1) == 3);
  // With alpha 2 the answer of length t has (log 0.9 + (t - 1) log 0.1) / t^2.
  CHECK(steps(0.9, 2, 1) == 50);
}

TEST_CASE("BEM1: all of the n best are different, and sorted") {
  const auto answers = search(Toy{.vocab = 30}, {.beam = 50, .max_length = 8, .n_best = 50});
  for (const auto& n_best : answers) {
    REQUIRE(n_best.size() == 50);
    std::set<std::pair<Ids, bool>> different;
    for (const Hypothesis& answer : n_best) different.insert({answer.tokens, answer.finished});
    CHECK(different.size() == 50);
  }
}

TEST_CASE("BEM2: one hypothesis of each source is expanded first, and the beams differ") {
  const Toy model{.vocab = 12, .bias = {0, 0, -9}};
  const auto answers = search(model, {.beam = 5, .max_length = 2, .n_best = 5});
  CHECK(model.rows == 3 + 3 * 5);
  std::set<Ids> different;
  for (const Hypothesis& answer : answers[0]) different.insert(answer.tokens);
  CHECK(different.size() == 5);
}

TEST_CASE("BEM3: a batch of 30 gives what each source gives alone, bit for bit") {
  const Toy model{.vocab = 12, .bias = {0, 0, 1}};
  Rng rng(1);
  const Tensor source = randint(4, 12, {30, 6}, rng), lengths = randint(1, 7, {30}, rng);
  const BeamOptions options{.beam = 4, .max_length = 12, .n_best = 4};
  const auto together = beam_search(Decoder(model, source, lengths), options);
  for (std::int64_t b = 0; b < 30; ++b) {
    const auto alone = beam_search(
        Decoder(model, slice(source, 0, b, b + 1), slice(lengths, 0, b, b + 1)), options)[0];
    const auto& same = together[static_cast<std::size_t>(b)];
    REQUIRE(same.size() == alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      CHECK(test::same_tokens(same[i], alone[i]));
      CHECK(same[i].score == alone[i].score);
      CHECK(same[i].log_prob == alone[i].log_prob);
    }
  }
}

TEST_CASE("BEM3: finished hypotheses and finished sources leave the batch") {
  // After the first token the end is certain; another beginning is not worth while.
  const Script model{[](const Ids& past) -> std::vector<double> {
    if (past.empty()) return {0, 0, 0, 0, 0.75, 0.25};
    return {0, 0, 1, 0, 0, 0};
  }};
  const auto answers = search(model, {.beam = 2, .max_length = 50, .n_best = 2});
  CHECK(model.steps == 2);
  for (const auto& n_best : answers) {
    REQUIRE(n_best.size() == 2);
    CHECK(n_best[0].tokens == Ids{4});
    CHECK(n_best[1].tokens == Ids{5});
  }
}

TEST_CASE("BEM6: scores are divided by the length of what was generated, not of a prefix too") {
  const Toy flat{.vocab = 6, .spread = 0};
  for (const std::int64_t prefix : {1, 8}) {
    test::ToyState state = flat.start(kOne, kOneLength);
    for (std::int64_t i = 0; i < prefix; ++i) flat.decode_step(ids({4}), state);
    const auto answers =
        beam_search(Decoder(flat, state, ids({5})), {.beam = 6, .max_length = 3, .n_best = 6})[0];
    REQUIRE(answers.size() == 6);
    for (const Hypothesis& answer : answers) {
      CHECK(answer.score == doctest::Approx(-std::log(6.0)).epsilon(1e-6));
    }
  }
}

TEST_CASE("BEM7: an end symbol that is not among the best of the beam is no answer") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::law_beam_1_is_greedy(Toy{.vocab = 5, .seed = seed, .spread = 2}, kSource, kLengths);
  }
}

TEST_CASE("BEM9: beams as wide as the vocabulary and wider, and padding that is likely") {
  const Toy model{.vocab = 6, .bias = {9, 9}};
  for (const std::int64_t beam : {5, 6, 7, 1000}) {
    const auto answers = search(model, {.beam = beam, .max_length = 3, .n_best = beam});
    test::check_all(model, kSource, kLengths, answers, 1, 3);
    // The end after 0, 1 or 2 of three ids, or three of them.
    for (const auto& n_best : answers) {
      CHECK(n_best.size() == static_cast<std::size_t>(std::min<std::int64_t>(beam, 40)));
    }
  }
}

TEST_CASE("BEM13: the length counts the end symbol, and the empty answer can be forbidden") {
  // The empty answer: -1.18. The long one: -8.16 for seven tokens and the end.
  const double p = std::exp(-1.18), q = std::exp(-8.16 / 8);
  const Script model{[&](const Ids& past) -> std::vector<double> {
    const bool full = past.size() == 7;
    const double end = past.empty() ? p : full ? q : 1e-9, go_on = full ? 1e-9 : q;
    return {1 - end - go_on, 0, end, 0, go_on, 0};
  }};
  const auto run = [&](double alpha, std::int64_t min_length) {
    return beam_search(
        Decoder(model, kOne, kOneLength),
        {.beam = 3, .length_penalty = alpha, .min_length = min_length, .max_length = 8})[0][0];
  };
  // Not infinite, nor divided by 0.
  CHECK(run(0, 0).score == doctest::Approx(-1.18).epsilon(1e-6));
  CHECK(run(0, 0).tokens == Ids{});
  CHECK(run(1, 0).tokens == Ids(7, 4));
  CHECK(run(1, 0).score == doctest::Approx(-8.16 / 8).epsilon(1e-6));
  CHECK(run(0, 2).tokens != Ids{});
  CHECK(run(0, 8).length() == 8);
}

TEST_CASE("BEM14: each beam sees its own source") {
  const Toy model{.vocab = 12};
  const Tensor two = ids({{4, 5}, {6, 7}}), lengths = ids({2, 2});
  const auto answers =
      beam_search(Decoder(model, two, lengths), {.beam = 2, .max_length = 6, .n_best = 2});
  test::check_all(model, two, lengths, answers, 1, 6);
  CHECK(answers[0][0].tokens != answers[1][0].tokens);
}

TEST_CASE("BEM15: at the longest length what is open is an answer, flagged") {
  const auto answers = search(Toy{.bias = {0, 0, -90}}, {.beam = 3, .max_length = 4, .n_best = 3});
  for (const auto& n_best : answers) {
    REQUIRE(n_best.size() == 3);
    for (const Hypothesis& answer : n_best) {
      CHECK_FALSE(answer.finished);
      CHECK(answer.tokens.size() == 4);
    }
  }
}

TEST_CASE("BEM17: more end symbols at once than places in the beam") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Toy model{.vocab = 6, .seed = seed, .spread = 1, .bias = {0, 0, 1}};
    const auto answers = search(model, {.beam = 3, .min_length = 3, .max_length = 6, .n_best = 3});
    test::check_all(model, kSource, kLengths, answers, 1, 6);
    for (const auto& n_best : answers) {
      REQUIRE(n_best.size() == 3);
      for (const Hypothesis& answer : n_best) CHECK(answer.length() >= 3);
    }
  }
}

TEST_CASE("KVC6: deep models agree with forced decoding, whatever the beam") {
  test::law_scores(small(9, false, 3), kSource, kLengths);
  test::law_scores(small(10, true, 3), kSource, kLengths);
}

TEST_CASE("a source without a possible answer is an error, and so are options out of range") {
  const Script stuck{[](const Ids&) -> std::vector<double> { return {0, 1, 0, 0}; }};
  CHECK_THROWS_WITH_AS(search(stuck, {}), "beam_search: no token may follow after 0 tokens", Error);
  const auto refused = [](const BeamOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(search(Toy{}, options), message, Error);
  };
  refused({.beam = 0}, "beam_search: beam must be at least 1, got 0");
  refused({.beam = 4, .n_best = 5}, "beam_search: n_best must be from 1 to beam (4), got 5");
  refused({.beam = 4, .n_best = 0}, "beam_search: n_best must be from 1 to beam (4), got 0");
  refused({.length_penalty = -0.5}, "beam_search: length_penalty must be at least 0, got -0.5");
  refused({.length_penalty = NAN}, "beam_search: length_penalty must be at least 0, got nan");
  refused({.max_length = 0}, "beam_search: max_length must be at least 1, got 0");
  refused({.min_length = 9, .max_length = 8},
          "beam_search: min_length must be from 0 to max_length (8), got 9");
}
