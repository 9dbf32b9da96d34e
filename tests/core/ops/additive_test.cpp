// Additive comparison: fused gradients, pairs that get none, threads, memory, refusals.
#include "core/ops/additive.h"

#include <doctest/doctest.h>

#include "core/storage.h"
#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

const Function kScores = [](const auto& in) { return additive_scores(in[0], in[1], in[2]); };

}  // namespace

TEST_CASE("additive_scores: the fused gradients are those of the formula, at any width") {
  Rng rng(1);
  for (const std::int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 33}) {
    CAPTURE(n);
    const auto random = [&](const Shape& shape) { return randn(shape, rng, DType::f64); };
    CHECK(fused_error(kScores, {random({2, 3, n}), random({2, 4, n}), random({n})}) < 1e-14);
    CHECK(fused_error(kScores, {random({2, 1, n}), random({2, 4, n}), random({n})}) < 1e-14);
  }
}

TEST_CASE("additive_scores: the same bits for any number of threads") {
  Rng rng(2);
  const std::vector<Tensor> in{randn({5, 9, 33}, rng), randn({5, 21, 33}, rng), randn({33}, rng)};
  CHECK(same_for_any_threads([&] { return gradients(kScores, in, false); }));
  CHECK(same_for_any_threads([&] { return std::vector{kScores(in)}; }));
}

TEST_CASE("additive_scores: a pair without gradient passes nothing on, even if it is NaN") {
  const Tensor query = leaf(tensor({{{1}, {kNaN}}}, DType::f64));
  const Tensor keys = leaf(tensor({{{2}, {3}}}, DType::f64));
  const Tensor v = leaf(tensor({0.5}, DType::f64));
  const Tensor y = additive_scores(query, keys, v);
  CHECK(std::isnan(y.at({0, 1, 0})));
  y.backward(tensor({{{1, 0}, {0, 0}}}, DType::f64));
  const double t = std::tanh(3.0), slope = 0.5 * (1 - t * t);
  CHECK(distance(query.grad(), tensor({{{slope}, {0}}}, DType::f64)) < 1e-15);
  CHECK(distance(keys.grad(), tensor({{{slope}, {0}}}, DType::f64)) < 1e-15);
  CHECK(v.grad().item() == doctest::Approx(t));
}

TEST_CASE("additive_scores: the sums of all pairs are never in memory") {
  Rng rng(3);
  const Tensor query = leaf(randn({2, 50, 64}, rng)), keys = leaf(randn({2, 50, 64}, rng));
  const Tensor v = leaf(randn({64}, rng));
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  sum(additive_scores(query, keys, v)).backward();
  CHECK(memory::peak_bytes() - before < 2 * 50 * 50 * 64 * sizeof(float) / 4);
}

TEST_CASE("additive_scores: what it refuses") {
  CHECK_THROWS_WITH_AS(additive_scores(zeros({2, 3, 4}), zeros({2, 5, 3}), zeros({4})),
                       "additive_scores: query must be [batch, queries, n], keys [batch, keys, n] "
                       "and v [n], got [2, 3, 4], [2, 5, 3] and [4]",
                       Error);
  CHECK_THROWS_AS(additive_scores(zeros({2, 3, 4}), zeros({1, 5, 4}), zeros({4})), Error);
  CHECK_THROWS_AS(additive_scores(zeros({3, 4}), zeros({3, 4}), zeros({4})), Error);
  CHECK_THROWS_AS(additive_scores(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({4, 1})), Error);
  CHECK_THROWS_WITH_AS(
      additive_scores(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({4}, DType::f64)),
      "additive_scores: query, keys and v must all be f32 or all f64, got f32, f32 and f64", Error);
}
