// The optimizers' list of parameters.
#include "optim/parameters.h"

#include <doctest/doctest.h>

#include "core/ops.h"

using namespace gradzoo;

TEST_CASE("repeats are dropped, what cannot be trained is refused") {
  const Tensor a = ones({2}).requires_grad_(), b = ones({3}).requires_grad_();
  CHECK(optim::checked_parameters("Adam", {a, b, a}).size() == 2);
  CHECK_THROWS_WITH_AS(optim::checked_parameters("Adam", {a, ones({2})}),
                       "Adam: parameter 1 is not a leaf that requires a gradient", Error);
  CHECK_THROWS_AS(optim::checked_parameters("Adam", {a * 2.0}), Error);
}

TEST_CASE("zero_grad forgets every gradient") {
  const Tensor a = ones({2}).requires_grad_();
  sum(a).backward();
  CHECK(a.grad().defined());
  optim::zero_grad({a});
  CHECK_FALSE(a.grad().defined());
}
