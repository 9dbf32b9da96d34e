// Adagrad: the rule by hand.
#include "optim/adagrad.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;
using optim::Adagrad;

namespace {

Tensor leaf(double value) { return tensor({value}, DType::f64).requires_grad_(); }

}  // namespace

TEST_CASE("Adagrad, two steps by hand") {
  Tensor p = leaf(1);
  Adagrad adagrad({p}, {.lr = 0.1, .lr_decay = 1, .initial_accumulator = 7, .eps = 0});
  for (const double g : {3.0, -3.0}) {
    p.set_grad(tensor({g}, DType::f64));
    adagrad.step();
  }
  // sum: 7 + 9 = 16, then 25; lr 0.1, then 0.05.
  CHECK(p.item() == doctest::Approx(1 - 0.1 * 3 / 4 + 0.05 * 3 / 5));
}

TEST_CASE("Adagrad: a gradient of 0 moves nothing; bad options are refused") {
  Tensor p = leaf(1);
  Adagrad adagrad({p});
  p.set_grad(tensor({0}, DType::f64));
  adagrad.step();
  CHECK(p.item() == 1);
  CHECK_THROWS_AS(Adagrad({p}, {.lr_decay = -1}), Error);
  CHECK_THROWS_AS(Adagrad({p}, {.initial_accumulator = -1}), Error);
}
