// Decoding with a cache: step by step equals all at once, for every scheme of positions, shared
// heads, masks and rows in a new order.
#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/attention.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

constexpr std::int64_t kBatch = 3, kTime = 7, kWidth = 8, kHeads = 4;

// One layer for each scheme, f64, every weight random.
std::vector<MultiheadAttention> layers(std::int64_t num_kv_heads) {
  Rng rng(3);
  RelativePositions relative(2, kWidth / kHeads, rng);
  const std::vector<AttentionPositions> schemes{
      NoPositions{}, RotaryPositions(kTime, kWidth / kHeads), AlibiPositions{}, relative};
  std::vector<MultiheadAttention> made;
  for (const AttentionPositions& scheme : schemes) {
    MultiheadAttention layer(kWidth, kHeads, rng, {.num_kv_heads = num_kv_heads});
    layer.positions = scheme;
    assign(layer.in_proj_bias, randn(layer.in_proj_bias.shape(), rng));
    made.push_back(nn::to(layer, DType::f64));
  }
  return made;
}

// The part of a mask that the queries [first, end) need when there are `end` keys.
Tensor cut(const Tensor& mask, std::int64_t first, std::int64_t end) {
  if (!mask.defined()) return mask;
  const Tensor keys = slice(mask, -1, 0, end);
  return keys.size(-2) == 1 ? keys : slice(keys, -2, first, end);
}

// Steps of these sizes, from where the cache is.
Tensor stepped(const MultiheadAttention& layer, const Tensor& x, KvCache& cache, const Tensor& mask,
               const std::vector<std::int64_t>& sizes) {
  std::vector<Tensor> outputs;
  for (const std::int64_t size : sizes) {
    const std::int64_t first = cache.length(), end = first + size;
    outputs.push_back(layer.step(slice(x, 1, first, end), cache, cut(mask, first, end)));
  }
  return concat(outputs, 1);
}

Tensor whole(const MultiheadAttention& layer, const Tensor& x, const Tensor& mask = {}) {
  return layer(x, x, x, causal_mask(x.size(1)) & mask);
}

// Rows of different lengths, padded in front: rows 1 and 2 must not see their first keys.
Tensor padding_in_front() {
  return logical_not(padding_mask(tensor({0, 2, 4}, DType::i64), kTime));
}

}  // namespace

TEST_CASE("KVC3: steps of one token, of two, of three equal all at once, for every scheme") {
  const Tensor x = test::input({kBatch, kTime, kWidth}, 1).detach();
  for (const std::int64_t kv_heads : {4, 2, 1}) {
    for (const MultiheadAttention& layer : layers(kv_heads)) {
      CAPTURE(layer.positions.index());
      CAPTURE(kv_heads);
      const std::vector<Tensor> masks{Tensor(), padding_in_front(), window_mask(kTime, 2),
                                      padding_in_front() & window_mask(kTime, 1)};
      for (const Tensor& mask : masks) {
        const Tensor want = whole(layer, x, mask);
        for (const std::vector<std::int64_t>& sizes :
             {std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 1}, {3, 2, 2}, {1, 2, 3, 1}, {7}}) {
          const NoGrad no_grad;
          KvCache cache = layer.make_cache(kBatch, kTime);
          const Tensor got = stepped(layer, x, cache, mask, sizes);
          CHECK(test::max_difference(got, want) < 1e-12);
        }
      }
    }
  }
}

TEST_CASE("steps equal all at once after rows are reordered, doubled and dropped") {
  const Tensor x = test::input({kBatch, kTime, kWidth}, 2).detach(), mask = padding_in_front();
  // What the rows are after one choice, and after a second one.
  const Tensor one = tensor({1, 1, 0, 2, 2}, DType::i64), two = tensor({4, 0, 2}, DType::i64);
  for (const std::int64_t kv_heads : {4, 2}) {
    for (const MultiheadAttention& layer : layers(kv_heads)) {
      const NoGrad no_grad;
      CAPTURE(layer.positions.index());
      KvCache cache = layer.make_cache(kBatch, kTime);
      stepped(layer, x, cache, mask, {2, 1});
      cache.select_rows(one);
      const Tensor x1 = index_select(x, 0, one), mask1 = index_select(mask, 0, one);
      const Tensor want1 = whole(layer, x1, mask1);
      CHECK(test::max_difference(stepped(layer, x1, cache, mask1, {1, 2}), slice(want1, 1, 3, 6)) <
            1e-12);
      cache.select_rows(two);
      const Tensor x2 = index_select(x1, 0, two), mask2 = index_select(mask1, 0, two);
      CHECK(test::max_difference(stepped(layer, x2, cache, mask2, {1}),
                                 slice(whole(layer, x2, mask2), 1, 6)) < 1e-12);
      CHECK_THROWS_AS(layer.step(slice(x2, 1, 0, 1), cache), Error);  // no room
    }
  }
}

TEST_CASE("a step whose mask does not fit all keys adds nothing") {
  const MultiheadAttention layer = layers(4)[0];
  const Tensor x = test::input({2, 4, kWidth}, 6).detach();
  const NoGrad no_grad;
  KvCache cache = layer.make_cache(2, 4);
  layer.step(slice(x, 1, 0, 2), cache);
  const Tensor of_new = padding_mask(tensor({2, 1}, DType::i64), 2);  // there are 4 keys
  CHECK_THROWS_WITH_AS(layer.step(slice(x, 1, 2, 4), cache, of_new),
                       "attention: the mask does not fit the scores, got mask [batch, queries, "
                       "keys] [2, 1, 2] and scores [batch, heads, queries, keys] [2, 4, 2, 4]",
                       Error);
  CHECK_THROWS_AS(layer.step(slice(x, 1, 2, 3), cache, of_new), Error);
  CHECK(cache.length() == 2);
}

TEST_CASE("KVC7: one new token sees every key, not the first alone") {
  const MultiheadAttention layer = layers(4)[0];
  const Tensor x = test::input({1, 4, kWidth}, 3).detach();
  const NoGrad no_grad;
  KvCache cache = layer.make_cache(1, 4);
  layer.step(slice(x, 1, 0, 3), cache);
  const Tensor last = slice(x, 1, 3);
  CHECK(test::max_difference(layer.step(last, cache), layer(last, x, x)) < 1e-12);
}

TEST_CASE("a memory projected once gives at every step what cross-attention gives") {
  const MultiheadAttention layer = layers(2)[0];
  const Tensor x = test::input({kBatch, 5, kWidth}, 4).detach();
  const Tensor memory = test::input({kBatch, 6, kWidth}, 5).detach();
  const Tensor real = padding_mask(tensor({6, 1, 3}, DType::i64), 6);
  const NoGrad no_grad;
  KvCache projected = layer.project_memory(memory, memory);
  CHECK(projected.length() == 6);
  const Tensor want = layer(x, memory, memory, real);
  CHECK(test::max_difference(layer.attend_memory(x, projected, real), want) < 1e-12);
  for (std::int64_t t = 0; t < 5; ++t) {
    const Tensor got = layer.attend_memory(slice(x, 1, t, t + 1), projected, real);
    CHECK(test::max_difference(got, slice(want, 1, t, t + 1)) < 1e-12);
  }
  const Tensor rows = tensor({2, 0, 2, 1}, DType::i64);
  projected.select_rows(rows);
  const Tensor chosen =
      layer.attend_memory(index_select(x, 0, rows), projected, index_select(real, 0, rows));
  CHECK(test::max_difference(chosen, index_select(want, 0, rows)) < 1e-12);
  CHECK_THROWS_WITH_AS(layer.attend_memory(x, projected),
                       "MultiheadAttention: query must be [batch, queries, width] for a memory of "
                       "batch 4, got [3, 5, 8]",
                       Error);
  CHECK_THROWS_WITH_AS(
      layers(4)[1].attend_memory(x, projected),
      "MultiheadAttention: positions are for queries and keys of one sequence, not for a memory",
      Error);
}
