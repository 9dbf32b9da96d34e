// Clipping by the common norm.
#include "optim/clip.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;

namespace {

std::vector<Tensor> with_gradients(const std::vector<double>& gradients) {
  std::vector<Tensor> parameters;
  for (const double g : gradients) {
    parameters.push_back(ones({1}).requires_grad_());
    parameters.back().set_grad(full({1}, g));
  }
  return parameters;
}

}  // namespace

TEST_CASE("gradients are scaled to the largest norm, or left alone below it") {
  const auto p = with_gradients({3, 4});
  CHECK(optim::clip_grad_norm(p, 10) == doctest::Approx(5));
  CHECK(p[1].grad().item() == 4);
  CHECK(optim::clip_grad_norm(p, 1) == doctest::Approx(5));
  CHECK(p[0].grad().item() == doctest::Approx(0.6));
  CHECK(p[1].grad().item() == doctest::Approx(0.8));
}

TEST_CASE("CLP1: large gradients do not overflow the norm") {
  const auto p = with_gradients(std::vector<double>(100, 1e20));
  CHECK(optim::clip_grad_norm(p, 1) == doctest::Approx(1e21));
  CHECK(p[99].grad().item() == doctest::Approx(0.1));
  Tensor one = ones({4}).requires_grad_();
  one.set_grad(full({4}, 3e38));  // the norm is too large for an f32, the numbers are not
  CHECK(optim::clip_grad_norm({one}, 2) == doctest::Approx(6e38));
  CHECK(one.grad().at({3}) == doctest::Approx(1).epsilon(1e-5));
}

TEST_CASE("CLP4: a gradient that is not finite is an error naming the parameter; nothing changes") {
  for (const double bad : {HUGE_VAL, std::nan("")}) {
    const auto p = with_gradients({5, bad});
    CHECK_THROWS_WITH_AS(optim::clip_grad_norm(p, 1),
                         "clip_grad_norm: the gradient of parameter 1 (shape [1]) is not finite",
                         Error);
    const optim::NamedTensors named = {{"encoder.weight", p[0]}, {"encoder.bias", p[1]}};
    CHECK_THROWS_WITH_AS(
        optim::clip_grad_norm(named, 1),
        "clip_grad_norm: the gradient of parameter encoder.bias (shape [1]) is not finite", Error);
    CHECK(p[0].grad().item() == 5);
    CHECK_FALSE(std::isfinite(optim::grad_norm(named)));
  }
}

TEST_CASE("two parameters that hold the same gradient tensor are each scaled once") {
  std::vector<Tensor> p = {ones({1}).requires_grad_(), ones({1}).requires_grad_()};
  const Tensor shared = full({1}, 3);
  for (Tensor& parameter : p) parameter.set_grad(shared);
  CHECK(optim::clip_grad_norm(p, 1) == doctest::Approx(std::sqrt(18)));
  CHECK(p[0].grad().item() == doctest::Approx(3 / std::sqrt(18)));
  CHECK(p[1].grad().item() == doctest::Approx(3 / std::sqrt(18)));
  CHECK(shared.item() == 3);
}

TEST_CASE("clip_grad_value: each number by itself; infinities become the bound, a NaN is refused") {
  const auto p = with_gradients({0.5, -3, HUGE_VAL});
  optim::clip_grad_value(p, 2);
  CHECK(p[0].grad().item() == 0.5);
  CHECK(p[1].grad().item() == -2);
  CHECK(p[2].grad().item() == 2);
  const auto q = with_gradients({5, std::nan("")});
  CHECK_THROWS_WITH_AS(optim::clip_grad_value(q, 1),
                       "clip_grad_value: the gradient of parameter 1 (shape [1]) has a NaN", Error);
  CHECK(q[0].grad().item() == 5);
  CHECK_THROWS_AS(optim::clip_grad_value(p, 0), Error);
}

TEST_CASE(
    "zero gradients stay zero, a tied parameter counts once, parameters without one are passed "
    "over") {
  const auto zeros_only = with_gradients({0, 0});
  CHECK(optim::clip_grad_norm(zeros_only, 1) == 0);
  CHECK(zeros_only[0].grad().item() == 0);
  auto p = with_gradients({3, 4});
  p.push_back(p[0]);
  p.push_back(ones({2}).requires_grad_());
  CHECK(optim::clip_grad_norm(p, 1) == doctest::Approx(5));
  CHECK(p[0].grad().item() == doctest::Approx(0.6));
  CHECK_THROWS_AS(optim::clip_grad_norm(p, 0), Error);
}
