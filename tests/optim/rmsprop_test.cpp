// RmsProp: the rule by hand, and what centering must not do.
#include "optim/rmsprop.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;
using optim::RmsProp;

namespace {

Tensor leaf(double value) { return tensor({value}, DType::f64).requires_grad_(); }

}  // namespace

TEST_CASE("RMSprop, two steps by hand, plain and with momentum") {
  Tensor p = leaf(1), q = leaf(1);
  RmsProp plain({p}, {.lr = 0.1, .alpha = 0.75, .eps = 0});
  RmsProp momentum({q}, {.lr = 0.1, .alpha = 0.75, .eps = 0, .momentum = 0.5});
  for (const double g : {2.0, -1.0}) {
    p.set_grad(tensor({g}, DType::f64));
    q.set_grad(tensor({g}, DType::f64));
    plain.step();
    momentum.step();
  }
  // square: 0.25 * 4 = 1, then 0.75 + 0.25 = 1. Directions 2 and -1; with momentum 2 and 1 - 1.
  CHECK(p.item() == doctest::Approx(1 - 0.1 * (2 - 1)));
  CHECK(q.item() == doctest::Approx(1 - 0.1 * 2));
}

TEST_CASE("centered: equal gradients have no variance, not a negative one") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor p = zeros({9}, dtype).requires_grad_();
    RmsProp rmsprop({p}, {.lr = 1e-9, .alpha = 0.1, .eps = 1e-3, .centered = true});
    p.set_grad(full({9}, 1.0 / 3, dtype));
    for (int step = 0; step < 100; ++step) rmsprop.step();
    CHECK(std::isfinite(sum(p).item()));
  }
}

TEST_CASE("RmsProp: bad options are refused") {
  CHECK_THROWS_AS(RmsProp({leaf(1)}, {.lr = -1}), Error);
  CHECK_THROWS_AS(RmsProp({leaf(1)}, {.alpha = 1}), Error);
  CHECK_THROWS_AS(RmsProp({leaf(1)}, {.momentum = -1}), Error);
}
