// Recording: what a node keeps, what it refuses to give back, and how graphs are freed.
#include "core/node.h"

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/trace.h"

using namespace gradzoo;

namespace {

Tensor leaf(const Nested& values) { return Tensor(tensor(values, DType::f64)).requires_grad_(); }

Vjp pass_on() {
  return [](const BackwardContext& c) -> Grads { return {c.grad}; };
}

}  // namespace

TEST_CASE("record: the node says what was computed, from what, and where") {
  const Tensor x = leaf({1, 2});
  Tensor y;
  {
    const Scope outer("Outer"), inner("Inner");
    y = record(exp(x.detach()), "mine", {x, tensor({1.0}, DType::f64)}, {}, pass_on());
  }
  const Node& node = *y.node();
  CHECK(std::string(node.op.name) == "mine");
  CHECK(node.shape == Shape{2});
  CHECK(node.dtype == DType::f64);
  CHECK(path_of(node.scope) == "Outer/Inner");
  CHECK(node.sequence > x.node()->sequence);
  REQUIRE(node.inputs.size() == 2);
  CHECK(node.inputs[0] == x.node());
  CHECK(node.inputs[1] == nullptr);
  CHECK(node.output.lock() == y.impl_ptr());
  CHECK_FALSE(y.is_leaf());
}

TEST_CASE("record: an op may come with its rule, or as a name alone") {
  const Tensor x = leaf({1, 2});
  const Op mine("mine", "x", "y = e^x", "dx = dy y");
  const Tensor ruled = record(exp(x.detach()), mine, {x}, {}, pass_on());
  CHECK(std::string(ruled.node()->op.arguments) == "x");
  CHECK(std::string(ruled.node()->op.forward) == "y = e^x");
  CHECK(std::string(ruled.node()->op.backward) == "dx = dy y");
  const Trace trace;
  const Tensor y =
      record(exp(x.detach()), {"mine", "x", "y = e^x", "dx = dy y"}, {x}, {}, pass_on());
  sum(y).backward();
  for (const std::size_t i : {std::size_t{1}, std::size_t{4}}) {
    CHECK(std::string(trace.steps().at(i).op.name) == "mine");
    CHECK(std::string(trace.steps().at(i).op.backward) == "dx = dy y");
  }
  const Tensor named = record(exp(x.detach()), "other", {x}, {}, pass_on());
  CHECK(std::string(named.node()->op.name) == "other");
  CHECK(std::string(named.node()->op.forward).empty());
}

TEST_CASE("record: no node for constants, under NoGrad, and for integers") {
  const Tensor x = leaf({1, 2});
  CHECK_FALSE(record(exp(x.detach()), "mine", {x.detach()}, {}, pass_on()).requires_grad());
  CHECK_FALSE(record(tensor({1}, DType::i64), "mine", {x}, {}, pass_on()).requires_grad());
  const NoGrad no_grad;
  CHECK_FALSE(record(exp(x.detach()), "mine", {x}, {}, pass_on()).requires_grad());
}

TEST_CASE("record: optional inputs and saved values may be undefined") {
  const Tensor x = leaf({1, 2});
  const Tensor y = record(exp(x.detach()), "mine", {x, Tensor()}, {Tensor(), x},
                          [](const BackwardContext& c) -> Grads {
                            CHECK_FALSE(c.needs(1));
                            CHECK_FALSE(c.saved(0).defined());
                            CHECK(c.saved(1).defined());
                            CHECK(c.shape(0) == Shape{2});
                            return {c.grad * c.saved(1), Tensor()};
                          });
  const DetectAnomaly anomaly;  // looks at the inputs as well
  sum(y).backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 2});
}

TEST_CASE("a saved output is kept without its history, and has it again when recorded") {
  const std::size_t before = memory::live_bytes();
  {
    const Tensor x = leaf({1, 2});
    const Tensor y = exp(x);  // saves its output
    REQUIRE(y.node()->saved.size() == 1);
    CHECK(y.node()->saved[0].is_output);
    CHECK_FALSE(y.node()->saved[0].value.requires_grad());
    CHECK(y.node().use_count() == 1);  // no circle
    const Tensor g =
        grad({y}, {x}, {.grad_outputs = {ones_like(y.detach())}, .create_graph = true})[0];
    const Tensor h = grad({g}, {x}, {.grad_outputs = {ones_like(y.detach())}})[0];
    CHECK(h.to_vector<double>() == y.to_vector<double>());
  }
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("saved values: an overwritten one is refused in the vjp, naming the op") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  assign(x, x.detach() * 2.0);
  assign(x, x.detach() * 2.0);
  const std::vector<bool> needed = {true, true};
  const Tensor gradient = ones_like(y.detach());
  const BackwardContext context(y.node(), gradient, needed);
  CHECK_THROWS_WITH_AS(context.saved(0),
                       "backward of 'mul': a value it saved was overwritten after the forward pass "
                       "(version 2, saved at 0)",
                       Error);
  CHECK_THROWS_AS(y.node()->check_saved(1), Error);
}

TEST_CASE("no_gradient throws, naming the op") {
  const Tensor x = leaf({1, 2});
  const Tensor y = record(exp(x.detach()), "steps", {x}, {}, no_gradient("steps"));
  CHECK_THROWS_WITH_AS(
      sum(y).backward(),
      "backward of 'steps': this op has no gradient; detach() its input if that is meant", Error);
}

TEST_CASE("graphs are freed without recursion: long, wide, and through saved values") {
  const std::size_t before = memory::live_bytes();
  {
    const Tensor x = leaf({1.0});
    Tensor chain = x, saved_only = x;
    for (int i = 0; i < 200'000; ++i) {
      chain = chain + chain;
      // Held by nothing but what the next node saved.
      saved_only = record(neg(x.detach()), "keeps", {x}, {saved_only}, pass_on());
    }
    std::vector<Tensor> parts;
    for (int i = 0; i < 100'000; ++i) parts.push_back(neg(x));
    const Tensor wide = concat(parts);
  }
  CHECK(memory::live_bytes() == before);
}
