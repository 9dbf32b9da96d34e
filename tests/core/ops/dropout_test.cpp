// Dropout: when it drops, how much, and that its numbers depend on the generator alone.
#include "core/ops/dropout.h"

#include <doctest/doctest.h>

#include "core/gradcheck.h"
#include "core/random.h"
#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

TEST_CASE("dropout: outside a TrainingScope it is x itself") {
  const Tensor x = ones({3});
  CHECK(dropout(x, 0.5).impl_ptr() == x.impl_ptr());
  CHECK(dropout(x, 1).impl_ptr() == x.impl_ptr());
  Rng rng(1);
  {
    const TrainingScope training(rng);
    CHECK(dropout(x, 0.5).impl_ptr() != x.impl_ptr());
  }
  CHECK(dropout(x, 0.5).impl_ptr() == x.impl_ptr());
}

TEST_CASE("DRP1: p = 1 gives zeros and zero gradients, whatever x is") {
  Rng rng(1);
  const TrainingScope training(rng);
  for (const bool composed : {false, true}) {
    const Tensor x = leaf(tensor({1, kInf, kNaN, -2}));
    const Tensor y = dropout(x, 1);
    CHECK(values(y) == std::vector<double>(4, 0));
    const Tensor dx =
        grad({y}, {x}, {.grad_outputs = {tensor({1, 2, kInf, kNaN})}, .create_graph = composed})[0];
    CHECK(values(dx) == std::vector<double>(4, 0));
  }
}

TEST_CASE("DRP3: p = 0 is the identity, bit for bit, and draws nothing") {
  Rng rng(1);
  const TrainingScope training(rng);
  const Tensor x = tensor({1e-40, -0.0, kInf, 0.1});
  CHECK(dropout(x, 0).impl_ptr() == x.impl_ptr());
  CHECK(rng.counter() == 0);
}

TEST_CASE("DRP4: what stays is scaled by 1 / (1 - p), forward and backward") {
  Rng rng(2);
  const TrainingScope training(rng);
  const Tensor x = leaf(full({1000}, 10));
  const Tensor y = dropout(x, 0.3);
  int kept = 0;
  for (const double v : values(y)) {
    const bool stays = v == doctest::Approx(14.285714);
    CHECK((stays || v == 0));
    kept += stays ? 1 : 0;
  }
  CHECK(kept > 600);
  CHECK(kept < 800);
  const Tensor upstream = randn({1000}, rng);
  for (const bool composed : {false, true}) {
    const Tensor dx = grad(
        {y}, {x}, {.grad_outputs = {upstream}, .create_graph = composed, .retain_graph = true})[0];
    CHECK(distance(dx, upstream * y.detach() / 10.0) < 1e-6);
  }
}

TEST_CASE("dropout: refuses p outside [0, 1], also outside training, and integers") {
  for (const double p : {-0.1, 1.1, kNaN}) CHECK_THROWS_AS(dropout(ones({2}), p), Error);
  CHECK_THROWS_WITH(dropout(ones({2}), 1.5), "dropout: p must be in [0, 1], got 1.5");
  CHECK_THROWS_AS(dropout(ones({2}, DType::i64), 0.5), Error);
}

TEST_CASE("dropout: the mean stays, within three standard deviations") {
  Rng rng(3);
  const TrainingScope training(rng);
  const double n = 1e5;
  for (const double p : {0.1, 0.5, 0.9}) {
    const Tensor y = dropout(ones({100000}, DType::f64), p);
    const double sigma = std::sqrt(p / (1 - p) / n);
    CHECK(std::abs(mean(y).item() - 1) < 3 * sigma);
    CHECK(std::abs(mean(y).item() - 1) > 0);
    // Neighbours are independent: the mean of their product is 1 too.
    const Tensor pairs = slice(y, 0, 0, kEnd, 2) * slice(y, 0, 1, kEnd, 2);
    const double pair_sigma = std::sqrt((1 / ((1 - p) * (1 - p)) - 1) / (n / 2));
    CHECK(std::abs(mean(pairs).item() - 1) < 3 * pair_sigma);
  }
}

TEST_CASE("dropout: the same generator gives the same pattern, each call another") {
  const Tensor x = ones({257});
  const auto two_calls = [&](std::uint64_t seed) {
    Rng rng(seed);
    const TrainingScope training(rng);
    const Tensor first = dropout(x, 0.5);
    CHECK(rng.counter() == 129);
    return std::vector<Tensor>{first, dropout(x, 0.5)};
  };
  const auto a = two_calls(4);
  const auto b = two_calls(4);
  CHECK(same_bits(a[0], b[0]));
  CHECK(same_bits(a[1], b[1]));
  CHECK_FALSE(same_bits(a[0], a[1]));
  CHECK_FALSE(same_bits(a[0], two_calls(5)[0]));
}

TEST_CASE("dropout: the same bits with 1, 2 and 3 threads") {
  CHECK(same_for_any_threads([] {
    Rng rng(6);
    const TrainingScope training(rng);
    const Tensor x = leaf(ones({50001}));
    const Tensor y = dropout(x, 0.3);
    y.backward(ones_like(y));
    return std::vector<Tensor>{y, x.grad()};
  }));
}

TEST_CASE("dropout: empty, strided, and derivatives") {
  Rng rng(7);
  const TrainingScope training(rng);
  CHECK(dropout(ones({0, 3}), 0.5).shape() == Shape{0, 3});
  const Tensor x = leaf(randn({3, 4}, rng, DType::f64));
  // The same pattern at every call, or the function would be another each time.
  const Function f = [](const auto& in) {
    Rng fixed(8);
    const TrainingScope scope(fixed);
    return dropout(transpose(in[0]), 0.4);
  };
  const Tensor y = f({x});
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const double v = y.at({j, i});
      CHECK((v == 0 || v == doctest::Approx(x.at({i, j}) / 0.6)));
    }
  }
  CHECK(gradcheck(f, {x}).ok);
  CHECK(gradgradcheck(f, {x}).ok);
}
