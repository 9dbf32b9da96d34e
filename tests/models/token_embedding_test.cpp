// Tokens as vectors that know their place.
#include "models/token_embedding.h"

#include <doctest/doctest.h>

#include "nn/config.h"
#include "nn/gradcheck.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::models;

namespace {

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

TokenEmbedding make(Positions positions) {
  Rng rng(1);
  return {6, 4, positions, 5, rng, 2};
}

}  // namespace

TEST_CASE("a token is its row times the scale, plus its place where the scheme adds one") {
  for (const Positions positions :
       {Positions::none, Positions::rotary, Positions::alibi, Positions::relative,
        Positions::sinusoidal, Positions::learned}) {
    CAPTURE(std::string(nn::choice_name(positions)));
    const TokenEmbedding layer = make(positions);
    const Tensor rows = gradzoo::embedding(layer.weight, ids({{3, 5}})) * 2;
    const Tensor added = layer(ids({{3, 5}}), 2) - rows;
    Tensor want = zeros({1, 2, 4});
    if (positions == Positions::sinusoidal) {
      want = unsqueeze(to(nn::sinusoidal_positions(2, 4, 2), DType::f32), 0);
    }
    if (positions == Positions::learned) {
      want = unsqueeze(
          slice(std::get<nn::LearnedPositions>(layer.positions).weight, 0, 2, 4).detach(), 0);
    }
    CHECK(test::max_difference(added, want) < 1e-6);
  }
}

TEST_CASE("at: each token at a place of its own") {
  for (const Positions positions : {Positions::none, Positions::sinusoidal, Positions::learned}) {
    CAPTURE(std::string(nn::choice_name(positions)));
    const TokenEmbedding layer = make(positions);
    const Tensor got = layer.at(ids({{3, 5}, {3, 5}}), ids({{0, 4}, {1, 2}}));
    CHECK(test::max_difference(slice(slice(got, 0, 0, 1), 1, 1), layer(ids({{5}}), 4)) < 1e-6);
    CHECK(test::max_difference(slice(got, 0, 1, 2), layer(ids({{3, 5}}), 1)) < 1e-6);
  }
}

TEST_CASE("gradients of TokenEmbedding") {
  const TokenEmbedding layer = nn::to(make(Positions::learned), DType::f64);
  for (const bool own : {false, true}) {
    const auto result =
        nn::gradcheck(layer,
                      [&](const std::vector<Tensor>&) {
                        const Tensor tokens = ids({{3, 3, 0}});
                        return own ? layer.at(tokens, ids({{1, 0, 1}})) : layer(tokens, 1);
                      },
                      {});
    CHECK_MESSAGE(result.ok, result.report);
  }
}

TEST_CASE("POS5: TokenEmbedding refuses places beyond its table, naming both lengths") {
  const TokenEmbedding layer = make(Positions::learned);
  CHECK(layer(ids({{1, 1, 1, 1, 1}})).size(1) == 5);
  CHECK_THROWS_AS(layer(ids({{1, 1, 1, 1, 1}}), 1), Error);
  CHECK_THROWS_WITH_AS(layer.at(ids({{1, 1}}), ids({{0, 5}})),
                       "TokenEmbedding: a sequence of 6 tokens is longer than the table for 5",
                       Error);
  CHECK_THROWS_WITH_AS(layer(ids({1, 1})),
                       "TokenEmbedding: ids must be [batch, time], got shape [2]", Error);
}
