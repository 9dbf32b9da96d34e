// The batch of hypotheses that searches work on: its checks, and that models keep its promises.
#include "models/decoder.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "models/decoder_lm.h"
#include "models/transformer.h"
#include "tests/models/toy.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

TransformerConfig small(bool norm_first, std::int64_t layers) {
  return {.source_vocab = 9,
          .target_vocab = 8,
          .d_model = 8,
          .num_heads = 2,
          .num_encoder_layers = layers,
          .num_decoder_layers = layers,
          .d_ff = 12,
          .dropout = 0.1,
          .norm_first = norm_first,
          .max_length = 16};
}

const Tensor kSource = ids({{4, 5, 6, 8}, {7, 4, 0, 0}, {5, 0, 0, 0}});
const Tensor kLengths = ids({4, 2, 1});
const Tensor kTargets = ids({{1, 4, 5, 3, 7}, {1, 5, 5, 6, 4}, {1, 7, 3, 4, 4}});

// The largest difference between the logits of steps and those of the full forward.
template <class Model>
double steps_against_forward(const Model& model) {
  const Tensor full = model(kSource, kLengths, kTargets);
  Decoder decoder(model, kSource, kLengths);
  double largest = 0;
  for (std::int64_t t = 0; t < kTargets.size(1); ++t) {
    const Tensor step = decoder.step(select(kTargets, 1, t));
    largest = std::max(largest, test::max_difference(step, select(full, 1, t)));
  }
  return largest;
}

// The same, with rows reordered, repeated and dropped at each step.
template <class Model>
double selected_against_forward(const Model& model) {
  const std::vector<Tensor> moves{ids({2, 0, 0, 1}), ids({3, 3, 1}), ids({2, 0}), ids({1, 0, 1}),
                                  ids({0})};
  Decoder decoder(model, kSource, kLengths);
  Tensor source = kSource, lengths = kLengths, targets = kTargets;
  double largest = 0;
  for (std::int64_t t = 0; t < kTargets.size(1); ++t) {
    const Tensor step = decoder.step(select(targets, 1, t));
    const Tensor full = model(source, lengths, slice(targets, 1, 0, t + 1));
    largest = std::max(largest, test::max_difference(step, select(full, 1, -1)));
    const Tensor& move = moves[static_cast<std::size_t>(t)];
    decoder.select(move);
    source = index_select(source, 0, move);
    lengths = index_select(lengths, 0, move);
    targets = index_select(targets, 0, move);
    CHECK(decoder.rows() == move.size(0));
  }
  return largest;
}

}  // namespace

TEST_CASE("KVC1: logits step by step equal those of the full forward") {
  for (const bool norm_first : {false, true}) {
    for (const std::int64_t layers : {1, 3}) {
      Rng rng(static_cast<std::uint64_t>(layers));
      const Transformer model(small(norm_first, layers), rng);
      CHECK(steps_against_forward(model) < 1e-5);
    }
  }
  CHECK(steps_against_forward(test::Toy{.vocab = 8}) == 0);
}

TEST_CASE("KVC5: the whole state of a model follows when rows are reordered") {
  for (const bool norm_first : {false, true}) {
    for (const std::int64_t layers : {1, 3}) {
      Rng rng(10 + static_cast<std::uint64_t>(layers));
      const Transformer model(small(norm_first, layers), rng);
      CHECK(selected_against_forward(model) < 1e-5);
    }
  }
  CHECK(selected_against_forward(test::Toy{.vocab = 8}) == 0);
}

TEST_CASE("decoding leaves no history") {
  Rng rng(2);
  const Transformer model(small(false, 1), rng);
  Decoder decoder(model, kSource, kLengths);
  CHECK_FALSE(decoder.step(decoder.first_tokens()).requires_grad());
}

TEST_CASE("the first tokens are begin symbols, or what a prefix ends in") {
  const test::Toy model;
  const Decoder fresh(model, kSource, kLengths);
  CHECK(fresh.first_tokens().to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 1});
  const Decoder later(model, model.start(kSource, kLengths), ids({4, 5, 6}));
  CHECK(later.first_tokens().to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 5, 6});
  CHECK(later.rows() == 3);
}

TEST_CASE("a language model goes on after prefixes of several lengths") {
  Rng rng(3);
  const DecoderLM model({.vocab = 9,
                         .d_model = 8,
                         .num_heads = 2,
                         .num_layers = 2,
                         .d_ff = 12,
                         .dropout = 0,
                         .max_length = 16},
                        rng);
  Decoder decoder = Decoder::after(model, kSource, kLengths);
  CHECK(decoder.first_tokens().to_vector<std::int64_t>() == std::vector<std::int64_t>{8, 4, 5});
  const Tensor next = ids({4, 6, 7});
  const Tensor first = decoder.step(decoder.first_tokens()), second = decoder.step(next);
  for (std::int64_t b = 0; b < 3; ++b) {  // all at once, each alone, without a source
    const Tensor prefix =
        slice(slice(kSource, 0, b, b + 1), 1, 0, static_cast<std::int64_t>(kLengths.at({b})));
    const Tensor whole = concat({prefix, reshape(slice(next, 0, b, b + 1), {1, 1})}, 1);
    const Tensor logits = model(empty({1, 0}, DType::i64), ids({0}), whole);
    CHECK(test::max_difference(select(first, 0, b), select(select(logits, 1, -2), 0, 0)) < 1e-5);
    CHECK(test::max_difference(select(second, 0, b), select(select(logits, 1, -1), 0, 0)) < 1e-5);
  }
  CHECK_THROWS_WITH_AS(Decoder::after(model, kSource, ids({4, 0, 1})),
                       "Decoder: a prefix has 1 to 4 tokens, got length 0", Error);
}

TEST_CASE("what does not fit the rows is refused") {
  const test::Toy model;
  Decoder decoder(model, kSource, kLengths);
  CHECK_THROWS_WITH_AS(decoder.step(ids({1, 1})), "Decoder::step: 2 ids for 3 rows", Error);
  CHECK_THROWS_WITH_AS(decoder.step(ones({3})),
                       "Decoder::step: must be given i64 [rows], got f32 [3]", Error);
  CHECK_THROWS_WITH_AS(decoder.select(ids({0, 3})), "Decoder::select: row 3 of 3", Error);
  CHECK_THROWS_WITH_AS(decoder.select(ids({-1})), "Decoder::select: row -1 of 3", Error);
  CHECK_THROWS_WITH_AS(Decoder(model, ids({1, 2}), kLengths),
                       "Decoder: source must be [batch, time], got shape [2]", Error);
  const test::Toy none{.vocab = 2};
  Decoder small_vocabulary(none, kSource, kLengths);
  CHECK_THROWS_WITH_AS(
      small_vocabulary.step(ids({1, 1, 1})),
      "Decoder::step: a vocabulary begins with pad, begin and end symbol, this one has 2 ids",
      Error);
}
