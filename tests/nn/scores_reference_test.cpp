// Attention scores and the weights of each head beside PyTorch's: values and every gradient.
#include <doctest/doctest.h>

#include "nn/attend.h"
#include "nn/attention.h"
#include "nn/scores.h"
#include "tests/nn/reference_layers.h"

using namespace gradzoo;
using test::compare;
using test::Inputs;

namespace {

// Context and weights side by side, [batch, all], as they are recorded.
Tensor both(const nn::Attended& got) {
  const std::int64_t batch = got.context.size(0);
  return concat({reshape(got.context, {batch, -1}), reshape(got.weights, {batch, -1})}, 1);
}

}  // namespace

TEST_CASE("PyTorch: MultiheadAttention with the weights of each head, causal and across") {
  Rng rng(1);
  compare("attention_weights_self", nn::MultiheadAttention(8, 2, rng),
          [](const auto& m, const Inputs& in, const auto& get) {
            return both(m.with_weights(in[0], in[0], in[0], get("mask")));
          });
  compare("attention_weights_cross", nn::MultiheadAttention(8, 4, rng, {.bias = false}),
          [](const auto& m, const Inputs& in, const auto& get) {
            return both(m.with_weights(in[0], in[1], in[1], get("mask")));
          });
}

TEST_CASE("PyTorch: general, reduced-rank and additive scores, softmax under padding, context") {
  Rng rng(2);
  const auto attend = [](const auto& score, const Inputs& in, const auto& get) {
    return both(nn::attend(score(in[0], in[1]), in[2], get("mask")));
  };
  compare("score_general", nn::GeneralScore(3, 4, rng), attend);
  compare("score_reduced_rank", nn::ReducedRankScore(3, 4, 2, rng), attend);
  compare("score_additive", nn::AdditiveScore(3, 4, 5, rng), attend);
}
