// Recurrent cells: the places of the gates, extreme gates, sizes, threads, refusals.
#include "core/ops/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

TEST_CASE("RNN1: the gates of lstm_cell are i, f, g, o") {
  // A gate at 100 is open, at -100 shut.
  const Tensor c = tensor({{0.5}}, DType::f64);
  const auto run = [&](double i, double f, double g, double o) {
    const auto [h, next] = lstm_cell(tensor({{i, f, g, o}}, DType::f64), c);
    return std::pair(h.item(), next.item());
  };
  CHECK(run(100, -100, 0.3, 100).second == doctest::Approx(std::tanh(0.3)));
  CHECK(run(-100, 100, 0.3, 100).second == doctest::Approx(0.5));
  CHECK(run(-100, 100, 0.3, 100).first == doctest::Approx(std::tanh(0.5)));
  CHECK(std::abs(run(-100, 100, 0.3, -100).first) < 1e-30);
  CHECK(run(100, 100, -0.7, 0).second == doctest::Approx(0.5 + std::tanh(-0.7)));
  CHECK(run(100, 100, -0.7, 0).first == doctest::Approx(0.5 * std::tanh(0.5 + std::tanh(-0.7))));
}

TEST_CASE("RNN5: a wide open forget gate keeps the cell, and passes its gradient on") {
  const Tensor c = tensor({{3, -2}}, DType::f64).requires_grad_();
  const Tensor gates = tensor({{-1e3, -1e3, 1e3, 1e3, 5, -5, 0, 0}}, DType::f64).requires_grad_();
  const Tensor next = lstm_cell(gates, c).c;
  CHECK(distance(next, c.detach()) == 0);
  next.backward(tensor({{1, 2}}, DType::f64));
  CHECK(distance(c.grad(), tensor({{1, 2}}, DType::f64)) == 0);
  CHECK(max(abs(gates.grad())).item() == 0);
}

TEST_CASE("RNN3: r of gru_cell multiplies h_n, its bias included") {
  const Tensor x = tensor({{-100, -100, 0.25}}, DType::f64);
  const Tensor h = tensor({{9}}, DType::f64);
  CHECK(gru_cell(x, tensor({{0, 0, 7}}, DType::f64), h).item() == doctest::Approx(std::tanh(0.25)));
  CHECK(gru_cell(x, tensor({{200, 0, 0.5}}, DType::f64), h).item() ==
        doctest::Approx(std::tanh(0.75)));
  CHECK(gru_cell(x, tensor({{0, 200, 7}}, DType::f64), h).item() == doctest::Approx(9));
}

namespace {

const Function kLstm = [](const auto& in) {
  const auto [h, c] = lstm_cell(in[0], in[1]);
  return concat({h, c}, 1);
};
const Function kGru = [](const auto& in) { return gru_cell(in[0], in[1], in[2]); };

}  // namespace

TEST_CASE("lstm_cell, gru_cell: the fused gradients are those of the formula, at any width") {
  Rng rng(1);
  for (const std::int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 33}) {
    CAPTURE(n);
    const auto random = [&](std::int64_t width) { return randn({3, width}, rng, DType::f64); };
    CHECK(fused_error(kLstm, {random(4 * n), random(n)}) < 1e-14);
    CHECK(fused_error(kGru, {random(3 * n), random(3 * n), random(n)}) < 1e-14);
  }
}

TEST_CASE("lstm_cell, gru_cell: the same bits for any number of threads") {
  Rng rng(2);
  const Tensor gates = randn({37, 4 * 300}, rng), c = randn({37, 300}, rng);
  const Tensor x = slice(gates, 1, 0, 900);
  CHECK(same_for_any_threads([&] { return gradients(kLstm, {gates, c}, false); }));
  CHECK(same_for_any_threads([&] { return gradients(kGru, {x, x * 0.5, c}, false); }));
  CHECK(same_for_any_threads([&] { return std::vector{kLstm({gates, c}), kGru({x, x, c})}; }));
}

TEST_CASE("lstm_cell, gru_cell: what they refuse") {
  CHECK_THROWS_WITH_AS(
      lstm_cell(zeros({2, 9}), zeros({2, 3})),
      "lstm_cell: gates must be [batch, 4 * n] for a state [batch, n], got [2, 9] and [2, 3]",
      Error);
  CHECK_THROWS_WITH_AS(
      gru_cell(zeros({2, 9}), zeros({1, 9}), zeros({2, 3})),
      "gru_cell: gates must be [batch, 3 * n] for a state [batch, n], got [1, 9] and [2, 3]",
      Error);
  CHECK_THROWS_WITH_AS(gru_cell(zeros({2, 9}), zeros({2, 9}), zeros({2, 3}, DType::f64)),
                       "gru_cell: gates and state must both be f32 or f64, got f32 and f64", Error);
}
