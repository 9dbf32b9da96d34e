// Positions inside attention: each scheme is what it says, in any attention layer.
#include "nn/attention_positions.h"

#include <doctest/doctest.h>

#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

struct Qkv {
  Tensor q = test::input({2, 4, 3, 2}, 1), k = test::input({2, 2, 5, 2}, 2),
         v = test::input({2, 2, 5, 2}, 3);
};

RelativePositions relative_f64() {
  Rng rng(4);
  return nn::to(RelativePositions(1, 2, rng), DType::f64);
}

MultiheadAttention attention_f64(const AttentionPositions& positions) {
  Rng rng(5);
  MultiheadAttention layer(8, 4, rng, {.num_kv_heads = 2});
  assign(layer.in_proj_bias, randn(layer.in_proj_bias.shape(), rng));
  layer = nn::to(layer, DType::f64);
  layer.positions = positions;
  return layer;
}

std::vector<AttentionPositions> schemes() {
  return {NoPositions{}, RotaryPositions(6, 2), AlibiPositions{}, relative_f64()};
}

}  // namespace

TEST_CASE("rotary positions turn queries and keys, the other schemes leave them") {
  const Qkv x;
  const RotaryPositions rotary(6, 2);
  CHECK(test::max_difference(placed(rotary, x.q, 2), rotary(x.q, 2)) == 0);
  CHECK(test::max_difference(placed(rotary, x.q, 2), x.q) > 1e-3);
  for (const AttentionPositions& other :
       {AttentionPositions(), AttentionPositions(AlibiPositions{}),
        AttentionPositions(relative_f64())}) {
    CHECK(placed(other, x.q, 2).impl_ptr() == x.q.impl_ptr());
  }
}

TEST_CASE("ALiBi is a float mask, relative positions are themselves, under a mask too") {
  const Qkv x;
  const Tensor biases = alibi_biases(4, 3, 5, DType::f64);
  const RelativePositions relative = relative_f64();
  for (const Tensor& mask : {Tensor(), causal_mask(3, 5) & window_mask(3, 5, 2)}) {
    const auto got = [&](const AttentionPositions& positions) {
      return attend_by_place(positions, x.q, x.k, x.v, mask).context;
    };
    const auto plain = [&](const Tensor& all) {
      return scaled_dot_product_attention(x.q, x.k, x.v, all);
    };
    CHECK(test::max_difference(got(NoPositions{}), plain(mask)) == 0);
    CHECK(test::max_difference(got(AlibiPositions{}), plain(mask & biases)) == 0);
    CHECK(test::max_difference(got(relative), relative(x.q, x.k, x.v, mask)) == 0);
    CHECK(test::max_difference(got(AlibiPositions{}), plain(mask)) > 1e-3);
  }
}

TEST_CASE("every scheme in MultiheadAttention: with weights, the order matters, gradients") {
  const Tensor x = test::input({2, 4, 8}, 1);
  const Tensor order = tensor({2, 0, 3, 1}, DType::i64);
  for (const AttentionPositions& positions : schemes()) {
    CAPTURE(positions.index());
    const MultiheadAttention layer = attention_f64(positions);
    const Attended got = layer.with_weights(x, x, x, causal_mask(4));
    CHECK(got.context.to_vector<double>() == layer(x, x, x, causal_mask(4)).to_vector<double>());
    CHECK(test::max_difference(sum(got.weights, {3}), ones({2, 4, 4}, DType::f64)) < 1e-12);
    const Tensor shuffled = index_select(x, 1, order);
    const double moved = test::max_difference(layer(shuffled, shuffled, shuffled),
                                              index_select(layer(x, x, x), 1, order));
    CHECK((positions.index() == 0 ? moved < 1e-12 : moved > 1e-3));
    const auto f = [&](const std::vector<Tensor>& in) {
      return layer(in[0], in[0], in[0], causal_mask(3) & window_mask(3, 1));
    };
    const auto first = nn::gradcheck(layer, f, {test::input({1, 3, 8}, 2)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = nn::gradgradcheck(layer, f, {test::input({1, 3, 8}, 3)});
    CHECK_MESSAGE(second.ok, second.report);
  }
}

TEST_CASE("a shift of the whole sequence changes nothing: the schemes know distances alone") {
  const Tensor x = test::input({1, 3, 8}, 1), before = test::input({1, 2, 8}, 2);
  const Tensor longer = concat({before, x}, 1);
  const Tensor real = concat({zeros({1, 1, 2}, DType::boolean), ones({1, 1, 3}, DType::boolean)},
                             2);  // padding in front
  for (const AttentionPositions& positions : schemes()) {
    CAPTURE(positions.index());
    const MultiheadAttention layer = attention_f64(positions);
    const Tensor shifted = layer(longer, longer, longer, real & causal_mask(5));
    CHECK(test::max_difference(slice(shifted, 1, 2), layer(x, x, x, causal_mask(3))) < 1e-12);
  }
}

TEST_CASE("fewer queries than keys: they are the last ones, for every scheme") {
  const Tensor x = test::input({2, 5, 8}, 1);
  for (const AttentionPositions& positions : schemes()) {
    CAPTURE(positions.index());
    const MultiheadAttention layer = attention_f64(positions);
    const Tensor last = layer(slice(x, 1, 3), x, x, causal_mask(2, 5));
    CHECK(test::max_difference(last, slice(layer(x, x, x, causal_mask(5)), 1, 3)) < 1e-12);
  }
}

TEST_CASE("weights of positions have names and are counted, tables are not") {
  const std::int64_t alone = parameter_count(attention_f64(NoPositions{}));
  CHECK(parameter_count(attention_f64(RotaryPositions(6, 2))) == alone);
  CHECK(parameter_count(attention_f64(AlibiPositions{})) == alone);
  const MultiheadAttention layer = attention_f64(relative_f64());
  CHECK(parameter_count(layer) == alone + 2 * 3 * 2);
  CHECK(named_parameters(layer).back().first == "positions.value_weight");
}
