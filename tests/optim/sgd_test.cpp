// Sgd: the update rules, step by step.
#include "optim/sgd.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;
using optim::Sgd;

namespace {

Tensor leaf(const Nested& values) { return tensor(values, DType::f64).requires_grad_(); }

void give(Tensor parameter, const Nested& gradient) {
  parameter.set_grad(tensor(gradient, DType::f64));
}

}  // namespace

TEST_CASE("plain SGD: p -= lr g; decay is added to the gradient") {
  const Tensor p = leaf({1, -2});
  Sgd sgd({p}, {.lr = 0.1});
  give(p, {10, 20});
  sgd.step();
  CHECK(std::abs(p.at({0})) < 1e-7);
  CHECK(p.at({1}) == doctest::Approx(-4));
  const Tensor q = leaf({2});
  Sgd decay({q}, {.lr = 0.1, .weight_decay = 0.5});
  give(q, {1});
  decay.step();
  CHECK(q.item() == doctest::Approx(2 - 0.1 * (1 + 0.5 * 2)));
}

TEST_CASE("momentum, dampening and Nesterov, two steps by hand") {
  const Tensor p = leaf({0}), d = leaf({0}), n = leaf({0});
  Sgd momentum({p}, {.lr = 1, .momentum = 0.5});
  Sgd dampened({d}, {.lr = 1, .momentum = 0.5, .dampening = 0.25});
  Sgd nesterov({n}, {.lr = 1, .momentum = 0.5, .nesterov = true});
  for (const double g : {1.0, 2.0}) {
    for (const Tensor& x : {p, d, n}) give(x, {g});
    momentum.step();
    dampened.step();
    nesterov.step();
  }
  // v: 1, then 0.5 + 2 = 2.5. Dampened: 1, then 0.5 + 0.75 * 2 = 2. Nesterov moves by
  // 1 + 0.5 and 2 + 1.25.
  CHECK(p.item() == doctest::Approx(-3.5));
  CHECK(d.item() == doctest::Approx(-3));
  CHECK(n.item() == doctest::Approx(-4.75));
}

TEST_CASE("INP3: a step between forward and backward is refused, naming the op") {
  const Tensor w = leaf({3, 4});
  Sgd sgd({w}, {.lr = 0.1});
  const Tensor loss = sum(square(w));
  give(w, {1, 1});
  sgd.step();
  CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains("'square'"), Error);
}

TEST_CASE("Sgd: bad options are refused") {
  const Tensor p = leaf({1});
  CHECK_THROWS_AS(Sgd({p}, {.lr = -1}), Error);
  CHECK_THROWS_AS(Sgd({p}, {.lr = std::nan("")}), Error);
  CHECK_THROWS_AS(Sgd({p}, {.momentum = -0.1}), Error);
  CHECK_THROWS_AS(Sgd({p}, {.dampening = 1.5}), Error);
  CHECK_THROWS_AS(Sgd({p}, {.nesterov = true}), Error);
  CHECK_THROWS_AS(Sgd({p}, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), Error);
  CHECK_THROWS_AS(Sgd({tensor({1})}), Error);
}
