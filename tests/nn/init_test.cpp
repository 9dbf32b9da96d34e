// Initial weights: their ranges, moments and seeds.
#include "nn/init.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;
namespace init = gradzoo::nn::init;

TEST_CASE("uniform and normal have the moments they say, and are parameters") {
  Rng rng(1);
  const Tensor u = init::uniform({100, 100}, -1, 3, rng);
  CHECK(u.requires_grad());
  CHECK(min(u).item() >= -1);
  CHECK(max(u).item() < 3);
  CHECK(mean(u).item() == doctest::Approx(1).epsilon(0.05));
  const Tensor n = init::normal({100, 100}, 2, 0.5, rng);
  CHECK(mean(n).item() == doctest::Approx(2).epsilon(0.02));
  CHECK(gradzoo::std(n).item() == doctest::Approx(0.5).epsilon(0.05));
  CHECK(init::constant({3}, 7).to_vector<float>() == std::vector<float>{7, 7, 7});
}

TEST_CASE("xavier_uniform: the bound is sqrt(6 / (in + out))") {
  Rng rng(2);
  const Tensor w = init::xavier_uniform({40, 60}, rng);
  const double bound = std::sqrt(6.0 / 100);
  CHECK(max(abs(w)).item() <= bound + 1e-6);
  CHECK(max(abs(w)).item() > 0.99 * bound);
  CHECK_THROWS_AS(init::xavier_uniform({3}, rng), Error);
}

TEST_CASE("the same seed gives the same weights") {
  Rng a(3), b(3), c(4);
  const auto first = init::uniform({5, 5}, 0, 1, a).to_vector<float>();
  CHECK(first == init::uniform({5, 5}, 0, 1, b).to_vector<float>());
  CHECK(first != init::uniform({5, 5}, 0, 1, c).to_vector<float>());
}
