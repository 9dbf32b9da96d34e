// Transformer layers decoding with a cache: step by step equals all at once.
#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/embedding.h"
#include "nn/mask.h"
#include "nn/transformer_layer.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

constexpr std::int64_t kWidth = 8, kTime = 6;

TransformerLayerOptions options_of(bool norm_first, std::int64_t num_kv_heads = 0) {
  return {.d_model = kWidth,
          .num_heads = 4,
          .d_ff = 10,
          .dropout = 0.2,  // without effect outside training
          .norm_first = norm_first,
          .num_kv_heads = num_kv_heads};
}

std::vector<AttentionPositions> schemes(Rng& rng) {
  return {NoPositions{}, RotaryPositions(kTime, 2), AlibiPositions{}, RelativePositions(2, 2, rng)};
}

Tensor part(const Tensor& x, std::int64_t first, std::int64_t end) {
  return slice(x, 1, first, end);
}

}  // namespace

TEST_CASE("encoder layers, causal: one token, then two at once, and rows in a new order") {
  Rng rng(1);
  const Tensor x = test::input({2, kTime, kWidth}, 2).detach();
  const Tensor rows = tensor({1, 0, 1}, DType::i64), x1 = index_select(x, 0, rows);
  for (const bool norm_first : {false, true}) {
    for (const AttentionPositions& positions : schemes(rng)) {
      TransformerEncoderLayer made(options_of(norm_first, 2), rng);
      made.self_attn.positions = positions;
      const auto layer = nn::to(made, DType::f64);
      const NoGrad no_grad;
      KvCache cache = layer.make_cache(2, kTime);
      const Tensor want = layer(x, causal_mask(kTime)), want1 = layer(x1, causal_mask(kTime));
      for (const auto& [first, end] : {std::pair{0, 1}, {1, 3}}) {
        const Tensor got = layer.step(part(x, first, end), cache);
        CHECK(test::max_difference(got, part(want, first, end)) < 1e-12);
      }
      cache.select_rows(rows);
      for (const auto& [first, end] : {std::pair{3, 4}, {4, 6}}) {
        const Tensor got = layer.step(part(x1, first, end), cache);
        CHECK(test::max_difference(got, part(want1, first, end)) < 1e-12);
      }
    }
  }
}

TEST_CASE("KVC6: two decoder layers, with a padded memory, as rows are reordered and doubled") {
  Rng rng(3);
  const Tensor x = test::input({2, kTime, kWidth}, 4).detach();
  const Tensor memory = test::input({2, 5, kWidth}, 5).detach();
  const Tensor real = padding_mask(tensor({5, 2}, DType::i64), 5);
  const Tensor rows = tensor({1, 1, 0}, DType::i64);
  const auto chosen = [&](const Tensor& t) { return index_select(t, 0, rows); };
  for (const bool norm_first : {false, true}) {
    for (const AttentionPositions& positions : schemes(rng)) {
      std::vector<TransformerDecoderLayer> layers;
      for (int i = 0; i < 2; ++i) {
        TransformerDecoderLayer made(options_of(norm_first, 2), rng);
        made.self_attn.positions = positions;
        layers.push_back(nn::to(made, DType::f64));
      }
      const auto whole = [&](Tensor y, const Tensor& states, const Tensor& mask) {
        for (const auto& layer : layers) y = layer(y, states, causal_mask(kTime), mask);
        return y;
      };
      const NoGrad no_grad;
      std::vector<DecoderLayerCache> caches;
      for (const auto& layer : layers) caches.push_back(layer.make_cache(memory, real, kTime));
      const auto step = [&](Tensor y) {
        for (std::size_t i = 0; i < layers.size(); ++i) y = layers[i].step(y, caches[i]);
        return y;
      };
      const Tensor want = whole(x, memory, real);
      CHECK(test::max_difference(step(part(x, 0, 1)), part(want, 0, 1)) < 1e-12);
      CHECK(test::max_difference(step(part(x, 1, 3)), part(want, 1, 3)) < 1e-12);
      for (DecoderLayerCache& cache : caches) cache.select_rows(rows);
      const Tensor x1 = chosen(x), want1 = whole(x1, chosen(memory), chosen(real));
      CHECK(test::max_difference(step(part(x1, 3, 5)), part(want1, 3, 5)) < 1e-12);
      CHECK(test::max_difference(step(part(x1, 5, 6)), part(want1, 5, 6)) < 1e-12);
    }
  }
}

TEST_CASE("a memory mask for all rows, or none, stays when rows are chosen") {
  Rng rng(6);
  const TransformerDecoderLayer layer(options_of(false), rng);
  const Tensor memory = randn({1, 3, kWidth}, rng), token = randn({2, 1, kWidth}, rng);
  const NoGrad no_grad;
  const Tensor rows = tensor({0, 0}, DType::i64);
  for (const Tensor& mask : {Tensor(), padding_mask(tensor({2}, DType::i64), 3)}) {
    DecoderLayerCache cache = layer.make_cache(memory, mask, 1);
    cache.select_rows(rows);
    const Tensor want = layer(token, index_select(memory, 0, rows), {}, mask);
    CHECK(test::max_difference(layer.step(token, cache), want) < 1e-5);
  }
}

TEST_CASE("KVC1: greedy decoding with the cache and without: the same tokens, logits to 1e-5") {
  Rng rng(7);
  const std::int64_t vocab = 11, length = 12;
  Embedding embedding(vocab, kWidth, rng);
  std::vector<TransformerEncoderLayer> layers;
  for (int i = 0; i < 3; ++i) {
    layers.emplace_back(options_of(true, 2), rng);
    layers.back().self_attn.positions = RotaryPositions(length, 2);
  }
  const NoGrad no_grad;
  std::vector<KvCache> caches;
  for (const auto& layer : layers) caches.push_back(layer.make_cache(2, length));
  Tensor ids = tensor({{1, 5, 3}, {4, 2, 9}}, DType::i64), fresh = ids;  // the prompts
  while (ids.size(1) < length) {
    Tensor all = embedding(ids), last = embedding(fresh);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      all = layers[i](all, causal_mask(ids.size(1)));
      last = layers[i].step(last, caches[i]);
    }
    const auto logits = [&](const Tensor& y) {
      return matmul(select(y, 1, y.size(1) - 1), transpose(embedding.weight));
    };
    CHECK(test::max_difference(logits(all), logits(last)) < 1e-5);
    fresh = argmax(logits(last), -1, true);
    CHECK(fresh.to_vector<std::int64_t>() ==
          argmax(logits(all), -1, true).to_vector<std::int64_t>());
    ids = concat({ids, fresh}, 1);
  }
}
