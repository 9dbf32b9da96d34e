// The cache of keys and values: what is in it after appending and after choosing rows, and what it
// refuses.
#include "nn/kv_cache.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/scope.h"
#include "nn/attention.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::KvCache;

namespace {

Tensor numbers(const Shape& shape, double first) {
  return reshape(arange(first, first + static_cast<double>(shape.numel())), shape);
}

}  // namespace

TEST_CASE("KvCache appends tokens and shows those that are there") {
  const NoGrad no_grad;
  KvCache cache({2, 1, 3, 2}, {2, 1, 3, 4}, DType::f32);
  CHECK(cache.length() == 0);
  CHECK(cache.capacity() == 3);
  CHECK(cache.batch() == 2);
  CHECK(cache.keys().shape() == Shape{2, 1, 0, 2});
  const Tensor k = numbers({2, 1, 3, 2}, 1), v = numbers({2, 1, 3, 4}, 100);
  cache.append(slice(k, 2, 0, 1), slice(v, 2, 0, 1));
  CHECK(cache.length() == 1);
  CHECK(cache.keys().to_vector<float>() == std::vector<float>{1, 2, 7, 8});
  cache.append(slice(k, 2, 1, 3), slice(v, 2, 1, 3));
  CHECK(cache.keys().to_vector<float>() == k.to_vector<float>());
  CHECK(cache.values().to_vector<float>() == v.to_vector<float>());
  CHECK_THROWS_WITH_AS(cache.append(slice(k, 2, 0, 1), slice(v, 2, 0, 1)),
                       "KvCache: there is room for 3 tokens, 3 are there and 1 were to come",
                       Error);
  CHECK(cache.length() == 3);
}

TEST_CASE("KvCache: rows are reordered, doubled and dropped; the room stays") {
  const NoGrad no_grad;
  KvCache cache({3, 1, 2, 1}, {3, 1, 2, 1}, DType::f32);
  const Tensor first = numbers({3, 1, 1, 1}, 0), second = numbers({2, 1, 1, 1}, 7);
  cache.append(first, first);
  cache.select_rows(tensor({2, 2, 0, 1}, DType::i64));
  CHECK(cache.batch() == 4);
  CHECK(cache.keys().to_vector<float>() == std::vector<float>{2, 2, 0, 1});
  cache.select_rows(tensor({3, 1}, DType::i64));
  cache.append(second, second);
  CHECK(cache.capacity() == 2);
  CHECK(cache.values().to_vector<float>() == std::vector<float>{1, 7, 2, 8});
  CHECK_THROWS_AS(cache.select_rows(tensor({2}, DType::i64)), Error);
  CHECK_THROWS_WITH_AS(cache.select_rows(tensor({{0}}, DType::i64)),
                       "KvCache: index must be [new batch], got [1, 1]", Error);
  CHECK(cache.values().to_vector<float>() == std::vector<float>{1, 7, 2, 8});
  cache.select_rows(zeros({0}, DType::i64));
  CHECK(cache.keys().shape() == Shape{0, 1, 2, 1});
}

TEST_CASE("KvCache keeps what is there as its memory grows, up to the capacity") {
  const NoGrad no_grad;
  const std::int64_t capacity = 50;
  const Tensor k = numbers({2, 3, capacity, 1}, 0), v = numbers({2, 3, capacity, 2}, 1000);
  for (const std::int64_t step : {1, 7, 16, 17, 50}) {
    KvCache cache({2, 3, capacity, 1}, {2, 3, capacity, 2}, DType::f32);
    while (cache.length() < capacity) {
      const std::int64_t first = cache.length(), end = std::min(first + step, capacity);
      cache.append(slice(k, 2, first, end), slice(v, 2, first, end));
      cache.select_rows(tensor({1, 0}, DType::i64));
      cache.select_rows(tensor({1, 0}, DType::i64));
    }
    CHECK(cache.keys().to_vector<float>() == k.to_vector<float>());
    CHECK(cache.values().to_vector<float>() == v.to_vector<float>());
    CHECK_THROWS_AS(cache.append(slice(k, 2, 0, 1), slice(v, 2, 0, 1)), Error);
  }
}

TEST_CASE("KvCache of a memory is full from the start") {
  const NoGrad no_grad;
  const Tensor k = numbers({2, 3, 4, 5}, 0), v = numbers({2, 3, 4, 6}, 9);
  const KvCache memory(k, v);
  CHECK(memory.length() == 4);
  CHECK(memory.capacity() == 4);
  CHECK(memory.values().to_vector<float>() == v.to_vector<float>());
}

TEST_CASE("KvCache refuses what does not fit") {
  const NoGrad no_grad;
  KvCache cache({2, 1, 3, 2}, {2, 1, 3, 4}, DType::f32);
  const auto append = [&](const Shape& k, const Shape& v, DType dtype = DType::f32) {
    cache.append(zeros(k, dtype), zeros(v, dtype));
  };
  CHECK_THROWS_WITH_AS(append({1, 1, 1, 2}, {1, 1, 1, 4}),
                       "KvCache: made for batch 2 and heads 1, widths 2 and 4, f32; keys [batch, "
                       "heads, tokens, width] and values must fit, got f32 [1, 1, 1, 2] and f32 "
                       "[1, 1, 1, 4]",
                       Error);
  CHECK_THROWS_AS(append({2, 2, 1, 2}, {2, 2, 1, 4}), Error);
  CHECK_THROWS_AS(append({2, 1, 1, 3}, {2, 1, 1, 4}), Error);
  CHECK_THROWS_AS(append({2, 1, 1, 2}, {2, 1, 2, 4}), Error);
  CHECK_THROWS_AS(append({2, 1, 2}, {2, 1, 2}), Error);
  CHECK_THROWS_AS(append({2, 1, 1, 2}, {2, 1, 1, 4}, DType::f64), Error);
  CHECK(cache.length() == 0);
  CHECK_THROWS_AS(KvCache({2, 1, 3, 2}, {2, 1, 4, 2}, DType::f32), Error);
  CHECK_THROWS_AS(KvCache({2, 3, 2}, {2, 3, 2}, DType::f32), Error);
  CHECK_THROWS_AS(KvCache({2, 1, -1, 2}, {2, 1, -1, 2}, DType::f32), Error);
  KvCache none;
  CHECK(none.capacity() == 0);
  CHECK_THROWS_WITH_AS(none.append(zeros({2, 1, 1, 2}), zeros({2, 1, 1, 2})),
                       "KvCache: made for batch 0 and heads 0, widths 0 and 0, f32; keys [batch, "
                       "heads, tokens, width] and values must fit, got f32 [2, 1, 1, 2] and f32 "
                       "[2, 1, 1, 2]",
                       Error);
}

TEST_CASE("KvCache refuses to be changed while gradients are being recorded") {
  KvCache cache({1, 1, 1, 1}, {1, 1, 1, 1}, DType::f32);
  const char* message =
      "KvCache: gradients are being recorded, and a cache is for decoding without them: open a "
      "NoGrad";
  CHECK_THROWS_WITH_AS(cache.append(ones({1, 1, 1, 1}), ones({1, 1, 1, 1})), message, Error);
  CHECK_THROWS_WITH_AS(cache.select_rows(zeros({1}, DType::i64)), message, Error);
  CHECK(cache.length() == 0);
  Rng rng(1);
  const nn::MultiheadAttention layer(4, 2, rng);
  KvCache room = layer.make_cache(1, 2);
  CHECK_THROWS_WITH_AS(layer.step(ones({1, 1, 4}), room), message, Error);
}
