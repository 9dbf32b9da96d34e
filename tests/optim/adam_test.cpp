// Adam and AdamW: against the formula in plain numbers, and the published mistakes.
#include "optim/adam.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;
using optim::Adam;

namespace {

Tensor leaf(double value) { return tensor({value}, DType::f64).requires_grad_(); }

double step_once(double p, double g, const optim::AdamOptions& options) {
  Tensor parameter = leaf(p);
  Adam adam({parameter}, options);
  parameter.set_grad(tensor({g}, DType::f64));
  adam.step();
  return parameter.item();
}

}  // namespace

TEST_CASE("Adam follows the paper's formula for 20 steps, with and without L2") {
  for (const double decay : {0.0, 0.3}) {
    Tensor parameter = leaf(0.7);
    Adam adam({parameter}, {.lr = 0.01, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = decay});
    double p = 0.7, m = 0, v = 0;
    for (int t = 1; t <= 20; ++t) {
      const double g = std::sin(3.0 * t);
      parameter.set_grad(tensor({g}, DType::f64));
      adam.step();
      const double d = g + decay * p;
      m = 0.8 * m + 0.2 * d;
      v = 0.95 * v + 0.05 * d * d;
      const double mean = m / (1 - std::pow(0.8, t)), variance = v / (1 - std::pow(0.95, t));
      p -= 0.01 * mean / (std::sqrt(variance) + 1e-8);
      CHECK(parameter.item() == doctest::Approx(p).epsilon(1e-12));
    }
  }
}

TEST_CASE("ADM1: eps is added after the bias correction") {
  CHECK(-step_once(0, 1e-8, {.lr = 1e-3}) == doctest::Approx(0.0005).epsilon(1e-6).scale(0));
}

TEST_CASE("ADM3: decoupled decay is multiplied by lr") {
  CHECK(step_once(1, 0, {.lr = 0.01, .weight_decay = 0.1, .decoupled = true}) ==
        doctest::Approx(0.999).epsilon(1e-12));
}

TEST_CASE("ADM5: L2 and decoupled decay take different paths") {
  const double l2 = step_once(1, 1, {.lr = 0.01, .weight_decay = 0.1});
  const double decoupled = step_once(1, 1, {.lr = 0.01, .weight_decay = 0.1, .decoupled = true});
  CHECK(l2 == doctest::Approx(0.99).epsilon(1e-6));
  CHECK(decoupled == doctest::Approx(0.989).epsilon(1e-6));
}

TEST_CASE("f32 arrays of odd sizes are updated like single numbers") {
  for (const std::int64_t n : {1, 7, 8, 9, 17, 8191, 8193}) {
    Rng rng(1);
    Tensor parameter = randn({n}, rng).requires_grad_();
    const Tensor gradient = randn({n}, rng);
    const double first = parameter.at({0}), last = parameter.at({n - 1});
    Adam adam({parameter}, {.lr = 0.1});
    parameter.set_grad(gradient);
    adam.step();
    CHECK(parameter.at({0}) == doctest::Approx(first - 0.1 * (gradient.at({0}) > 0 ? 1 : -1)));
    CHECK(parameter.at({n - 1}) ==
          doctest::Approx(last - 0.1 * (gradient.at({n - 1}) > 0 ? 1 : -1)));
  }
}

TEST_CASE("bad options are refused") {
  CHECK_THROWS_AS(Adam({leaf(1)}, {.lr = -1}), Error);
  CHECK_THROWS_AS(Adam({leaf(1)}, {.beta1 = 1}), Error);
  CHECK_THROWS_AS(Adam({leaf(1)}, {.beta2 = -0.1}), Error);
  CHECK_THROWS_AS(Adam({leaf(1)}, {.beta2 = 1}), Error);
  CHECK_THROWS_AS(Adam({leaf(1)}, {.eps = -1e-8}), Error);
  CHECK_THROWS_AS(Adam({leaf(1)}, {.weight_decay = -1}), Error);
}
