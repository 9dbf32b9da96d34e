// Every scheme of positions, decoding step by step: each token alone, with what came before it
// as keys, must get what it gets when all are computed at once.
#include <doctest/doctest.h>

#include "nn/alibi.h"
#include "nn/attention.h"
#include "nn/learned_positions.h"
#include "nn/mask.h"
#include "nn/position.h"
#include "nn/relative.h"
#include "nn/rotary.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;

namespace {

constexpr std::int64_t kTime = 6, kWidth = 4;

// attend(q, k, v, first): causal attention of queries [1, 2, n, d], the first of them at place
// `first`, to keys and values [1, 2, first + n, d].
template <class Attend>
void check_steps(const Attend& attend) {
  const Tensor q = test::input({1, 2, kTime, kWidth}, 1), k = test::input({1, 2, kTime, kWidth}, 2),
               v = test::input({1, 2, kTime, kWidth}, 3);
  const Tensor whole = attend(q, k, v, std::int64_t{0});
  for (const std::int64_t step : {1, 2, 3}) {  // tokens at a time
    for (std::int64_t first = 0; first < kTime; first += step) {
      const std::int64_t end = first + step;
      const Tensor part =
          attend(slice(q, 2, first, end), slice(k, 2, 0, end), slice(v, 2, 0, end), first);
      CHECK(test::max_difference(part, slice(whole, 2, first, end)) < 1e-12);
    }
  }
  // Positions matter: the same token elsewhere gets something else.
  const Tensor same = expand(slice(q, 2, 0, 1), {1, 2, kTime, kWidth});
  const Tensor y = attend(same, k, v, std::int64_t{0});
  const Tensor alike = nn::scaled_dot_product_attention(same, k, v, nn::causal_mask(kTime));
  CHECK(test::max_difference(y, alike) > 1e-3);
}

// Attention with positions added to queries and keys.
template <class Positions>
auto added(const Positions& positions) {
  return [positions](const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t first) {
    return nn::scaled_dot_product_attention(positions(q, first), positions(k), v,
                                            nn::causal_mask(q.size(2), k.size(2)));
  };
}

}  // namespace

TEST_CASE("sinusoidal, learned and rotary positions: step by step equals all at once") {
  check_steps(added(nn::SinusoidalPositions(kTime, kWidth)));
  Rng rng(1);
  nn::LearnedPositions learned(kTime, kWidth, rng);
  assign(learned.weight, randn({kTime, kWidth}, rng));
  check_steps(added(nn::to(learned, DType::f64)));
  check_steps(added(nn::RotaryPositions(kTime, kWidth)));
}

TEST_CASE("ALiBi: step by step equals all at once") {
  check_steps([](const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t) {
    const std::int64_t n = q.size(2), m = k.size(2);
    const Tensor biases = nn::alibi_biases(q.size(1), n, m, DType::f64);
    return nn::scaled_dot_product_attention(q, k, v, nn::operator&(nn::causal_mask(n, m), biases));
  });
}

TEST_CASE("relative positions: step by step equals all at once") {
  Rng rng(2);
  for (const std::int64_t max_distance : {1, 3, 20}) {
    const auto relative = nn::to(nn::RelativePositions(max_distance, kWidth, rng), DType::f64);
    check_steps([&](const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t) {
      return relative(q, k, v, nn::causal_mask(q.size(2), k.size(2)));
    });
  }
}
