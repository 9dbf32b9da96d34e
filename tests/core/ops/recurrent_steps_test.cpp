// Recurrent sequences differentiated twice, where their inputs depend on each other: each path must
// be counted once.
#include "core/ops/recurrent_steps.h"

#include <doctest/doctest.h>

#include "core/gradcheck.h"
#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

TEST_CASE("recurrent sequences: second derivatives when one input is made from another") {
  Rng rng(1);
  const Tensor gates = leaf(randn({3, 2, 8}, rng, DType::f64));
  const Tensor weight = leaf(randn({8, 2}, rng, DType::f64));
  const CheckedFunction lstm = [](const std::vector<Tensor>& in) {
    // h from gates_x, c from h and from W_hh.
    const Tensor h = slice(select(in[0], 0, 1), 1, 3, 5);
    const Tensor c = sin(h) * slice(in[1], 0, 0, 2);
    const auto [output, state] = lstm_sequence(in[0], in[1], {h, c});
    return concat({reshape(output, {-1}), reshape(state.c, {-1})});
  };
  const GradcheckResult result = gradgradcheck(lstm, {gates, weight});
  CHECK_MESSAGE(result.ok, result.report);
  CHECK(fused_error(lstm, {gates.detach(), weight.detach()}) < 1e-14);

  const CheckedFunction gru = [](const std::vector<Tensor>& in) {
    const Tensor x = slice(in[0], 2, 0, 6), w = slice(in[1], 0, 0, 6);
    return gru_sequence(x, w, select(w, 1, 1), select(slice(x, 2, 1, 3), 0, 0)).output;
  };
  const GradcheckResult other = gradgradcheck(gru, {gates, weight});
  CHECK_MESSAGE(other.ok, other.report);
}

TEST_CASE("recurrent sequences: gradients only of what needs them, also when recorded") {
  Rng rng(2);
  const Tensor x = randn({3, 2, 8}, rng), h = leaf(randn({2, 2}, rng));
  const Tensor weight = randn({8, 2}, rng);
  const Tensor y = lstm_sequence(x, weight, {h, randn({2, 2}, rng)}).output;
  const std::vector<Tensor> found = grad({sum(y)}, {h}, {.create_graph = true});
  CHECK(found[0].requires_grad());
  CHECK(distance(found[0].detach(), grad({sum(y)}, {h}, {.retain_graph = true})[0]) < 1e-6);
}
