// The generator against published values; streams that do not depend on shapes or threads; the
// distributions by their moments and counts.
#include "core/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/create.h"
#include "core/kernels/random.h"
#include "core/ops/view.h"
#include "core/threads.h"

using namespace gradzoo;

namespace {

using Words = std::array<std::uint32_t, 4>;

std::vector<double> values(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

double mean_of(const std::vector<double>& x, double power) {
  double total = 0;
  for (double v : x) total += std::pow(v, power);
  return total / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("Philox4x32-10: the known answers published with Random123") {
  CHECK(kernels::philox({0, 0, 0, 0}, {0, 0}) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t all = 0xffffffff;
  CHECK(kernels::philox({all, all, all, all}, {all, all}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(
      kernels::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
      Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("Rng: numbers are halves of blocks, counted one by one") {
  Rng rng(0);
  CHECK(rng.next() == 0xe169c58d6627e8d5);
  CHECK(rng.next() == 0x9b00dbd8bc57ac4c);
  CHECK(rng.counter() == 2);
  const std::uint64_t third = rng.next();
  rng.set_counter(0);
  CHECK(rng.advance(2) == 0);
  CHECK(rng.next() == third);
  CHECK(Rng(1).next() != Rng(0).next());
  CHECK(Rng(std::uint64_t{1} << 32).next() != Rng(0).next());
  rng.set_counter(UINT64_MAX);  // wraps around without harm
  rng.next();
  CHECK(rng.next() == 0xe169c58d6627e8d5);
}

TEST_CASE("RNG1: two draws of (1, 7) are one draw of (2, 7), for every distribution") {
  const auto check_draws = [](auto draw) {
    Rng once(5), twice(5), odd(5);
    const auto whole = values(draw(Shape{2, 7}, once));
    auto parts = values(draw(Shape{1, 7}, twice));
    const auto second = values(draw(Shape{1, 7}, twice));
    parts.insert(parts.end(), second.begin(), second.end());
    CHECK(parts == whole);
    CHECK(once.counter() == twice.counter());
    for (const double value : whole) CHECK(draw(Shape{}, odd).item() == value);
    // Across the sizes of batches and pieces, too.
    Rng large(5), rest(5);
    const auto many = values(draw(Shape{30000}, large));
    const auto first = values(draw(Shape{131}, rest));
    const auto others = values(draw(Shape{30000 - 131}, rest));
    CHECK(std::equal(first.begin(), first.end(), many.begin()));
    CHECK(std::equal(others.begin(), others.end(), many.begin() + 131));
  };
  check_draws([](const Shape& s, Rng& rng) { return rand(s, rng); });
  check_draws([](const Shape& s, Rng& rng) { return rand(s, rng, DType::f64); });
  check_draws([](const Shape& s, Rng& rng) { return randn(s, rng); });
  check_draws([](const Shape& s, Rng& rng) { return randn(s, rng, DType::f64); });
  check_draws([](const Shape& s, Rng& rng) { return randint(-5, 1000, s, rng); });
}

TEST_CASE("RNG3: the same numbers with 1, 2 and 3 threads") {
  const int before = num_threads();
  std::vector<std::vector<double>> normal, uniform, kept;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Rng rng(9);
    normal.push_back(values(randn({50001}, rng)));
    uniform.push_back(values(rand({50001}, rng)));
    std::vector<float> mask(50001);
    kernels::bernoulli(3, 7, 50001, 0.3, 2.0F, mask.data());
    kept.emplace_back(mask.begin(), mask.end());
  }
  set_num_threads(before);
  for (std::size_t i : {1, 2}) {
    CHECK(normal[i] == normal[0]);
    CHECK(uniform[i] == uniform[0]);
    CHECK(kept[i] == kept[0]);
  }
}

TEST_CASE("rand: in [0, 1), evenly") {
  Rng rng(1);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto x = values(rand({200000}, rng, dtype));
    CHECK(*std::min_element(x.begin(), x.end()) >= 0);
    CHECK(*std::max_element(x.begin(), x.end()) < 1);
    CHECK(mean_of(x, 1) == doctest::Approx(0.5).epsilon(0.005).scale(0));
    CHECK(mean_of(x, 2) == doctest::Approx(1. / 3).epsilon(0.01).scale(0));
  }
  CHECK(kernels::fraction<float>(UINT64_MAX) < 1);
  CHECK(kernels::fraction<double>(UINT64_MAX) < 1);
  CHECK(kernels::fraction<float>(0) == 0);
  const double u = rng.uniform();
  CHECK(u >= 0);
  CHECK(u < 1);
}

TEST_CASE("randn: the moments of a normal distribution, and its tails") {
  Rng rng(2);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto x = values(randn({400000}, rng, dtype));
    CHECK(std::abs(mean_of(x, 1)) < 0.006);
    CHECK(mean_of(x, 2) == doctest::Approx(1).epsilon(0.01));
    CHECK(std::abs(mean_of(x, 3)) < 0.02);
    CHECK(mean_of(x, 4) == doctest::Approx(3).epsilon(0.03));
    const auto beyond = [&](double t) {
      return static_cast<double>(
                 std::count_if(x.begin(), x.end(), [&](double v) { return std::abs(v) > t; })) /
             400000;
    };
    CHECK(beyond(1) == doctest::Approx(0.317311).epsilon(0.02).scale(0));
    CHECK(beyond(3) == doctest::Approx(0.0026998).epsilon(0.15).scale(0));
  }
}

TEST_CASE("randn: f32 is f64, less exact where both are small") {
  // The first uniform variable is rounded near 1, which shows in the root of its logarithm.
  Rng a(3), b(3);
  const auto x = values(randn({20000}, a)), y = values(randn({20000}, b, DType::f64));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i] - y[i]) > 1e-5 + 1e-6 * std::abs(y[i])) FAIL_CHECK(x[i], " for ", y[i]);
  }
}

TEST_CASE("randint: every value as often as the others, the bounds are right") {
  Rng rng(4);
  std::vector<int> counts(6, 0);
  for (double v : values(randint(-2, 4, {60000}, rng)))
    ++counts.at(static_cast<std::size_t>(v + 2));
  for (int count : counts) CHECK(count == doctest::Approx(10000).epsilon(0.04));
  CHECK(values(randint(5, 6, {3}, rng)) == std::vector<double>{5, 5, 5});
  const auto wide = randint(INT64_MIN, INT64_MAX, {100}, rng).to_vector<std::int64_t>();
  CHECK(std::any_of(wide.begin(), wide.end(), [](auto v) { return v < 0; }));
  CHECK(std::any_of(wide.begin(), wide.end(), [](auto v) { return v > 0; }));
  CHECK_THROWS_WITH_AS(randint(3, 3, {1}, rng), "randint: the range [3, 3) is empty", Error);
  CHECK_THROWS_WITH_AS(rng.integer(1, 0), "integer: the range [1, 0) is empty", Error);
}

TEST_CASE("randint: without bias where the range does not divide 2^64") {
  // Three quarters of 2^64: taking the remainder alone would give the lowest third twice as often
  // as the others.
  const std::int64_t high = INT64_MAX / 2;  // range 3 * 2^62
  Rng rng(6), single(6);
  const Tensor x = randint(INT64_MIN, high, {30000}, rng);
  const double third = 0x1p62 - 0x1p63;
  const auto all = values(x);
  const auto low = std::count_if(all.begin(), all.end(), [&](double v) { return v < third; });
  CHECK(low == doctest::Approx(10000).epsilon(0.03));
  for (int i = 0; i < 100; ++i) {
    CHECK(single.integer(INT64_MIN, high) == x.data<std::int64_t>()[i]);
  }
}

TEST_CASE("permutation: each number once, every order reached") {
  Rng rng(7);
  const auto order = permutation(1000, rng).to_vector<std::int64_t>();
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::max_element(order.begin(), order.end()) == 999);
  CHECK(permutation(0, rng).numel() == 0);
  CHECK_THROWS_WITH_AS(permutation(-1, rng), "permutation: the length must not be negative, got -1",
                       Error);
  std::map<std::vector<std::int64_t>, int> seen;
  for (int i = 0; i < 6000; ++i) ++seen[permutation(3, rng).to_vector<std::int64_t>()];
  CHECK(seen.size() == 6);
  for (const auto& [found, count] : seen) CHECK(count == doctest::Approx(1000).epsilon(0.12));
}

TEST_CASE("fork: another stream, which the parent's later draws do not share") {
  Rng parent(8), same(8);
  Rng child = parent.fork(), sibling = parent.fork();
  CHECK(parent.counter() == 2);
  CHECK(child.seed() != sibling.seed());
  CHECK(child.seed() != parent.seed());
  CHECK(same.fork().next() == child.next());
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    numbers.insert(parent.next());
    numbers.insert(child.next());
    numbers.insert(sibling.next());
  }
  CHECK(numbers.size() == 3000);
}

TEST_CASE("bernoulli: two elements a number, all or nothing at the ends, the share in between") {
  for (const std::int64_t n : {0, 1, 2, 7, 255, 256, 257, 20001}) {
    std::vector<float> y(static_cast<std::size_t>(n) + 1, -1);
    kernels::bernoulli(11, 3, n, 1.0, 2.5F, y.data());
    CHECK(std::count(y.begin(), y.end(), 2.5F) == n);
    CHECK(y.back() == -1);
    kernels::bernoulli(11, 3, n, 0.0, 2.5F, y.data());
    CHECK(std::count(y.begin(), y.end(), 0.0F) == n);
  }
  std::vector<double> y(100001);
  kernels::bernoulli(11, 3, 100001, 0.2, 1.0, y.data());
  CHECK(mean_of(y, 1) == doctest::Approx(0.2).epsilon(0.03).scale(0));
  for (std::int64_t i : {0, 1, 2, 257, 99999, 100000}) {
    const std::uint64_t number = kernels::random_bits(11, 3 + static_cast<std::uint64_t>(i / 2));
    const double word = static_cast<double>(i % 2 == 0 ? number & 0xFFFFFFFF : number >> 32);
    CHECK(y[static_cast<std::size_t>(i)] == (word < 0.2 * 0x1p32 ? 1 : 0));
  }
}

TEST_CASE("rand: only floating dtypes") {
  Rng rng(0);
  CHECK_THROWS_WITH_AS(rand({1}, rng, DType::i64), "rand: the tensor must be f32 or f64, got i64",
                       Error);
  CHECK(rng.counter() == 0);
  CHECK(randn({0, 3}, rng).shape() == Shape{0, 3});
}
