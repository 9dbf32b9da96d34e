// Walks made from a trace: exact numbers of expressions worked out by hand, links, scopes.
#include "examples/common/walk/walk.h"

#include <doctest/doctest.h>

#include <string_view>

#include "core/ops.h"
#include "examples/common/walk/lesson.h"
#include "nn/module.h"
#include "nn/rnn.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Positions = std::vector<std::size_t>;

Tensor leaf(const Nested& values) { return tensor(values, DType::f64).requires_grad_(); }

// The step of this kind for the node that is called so.
const WalkStep& step_of(const Walk& walk, WalkStep::Kind kind, std::string_view label) {
  for (const WalkStep& step : walk.steps) {
    if (step.kind == kind && step.node != kNone && walk.label(step.node) == label) return step;
  }
  FAIL("no step for " << label);
  return walk.steps[0];
}

std::vector<std::string> calls(const Walk& walk) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    std::string text = walk.label(i) + " " + walk.nodes[i].op.name;
    for (const std::size_t input : walk.nodes[i].inputs) {
      text += " ";
      text += input == kNone ? "_" : walk.label(input);
    }
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("walk: u = a b + c, (u + a) u by hand: values, gradients, uses in their order") {
  const Tensor a = leaf(2), b = leaf(-3), c = leaf(10);
  Lesson lesson("", 1);
  const Tensor result = lesson.walk("f", {{"a", a}, {"b", b}, {"c", c}}, [&] {
    const Tensor u = a * b + c;
    return (u + a) * u;
  });
  CHECK(result.item() == 24);
  CHECK_FALSE(result.requires_grad());
  const Walk& walk = lesson.result();
  REQUIRE(calls(walk) == Texts{"a leaf", "b leaf", "%3 mul a b", "c leaf", "%5 add %3 c",
                               "%6 add %5 a", "%7 mul %6 %5"});
  const std::vector<double> values = {2, -3, -6, 10, 4, 6, 24};
  const std::vector<double> gradients = {-26, 20, 10, 10, 10, 4, 1};
  const std::vector<std::size_t> uses = {2, 1, 1, 1, 2, 1, 0};
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    CAPTURE(i);
    CHECK(walk.nodes[i].value.item() == values[i]);
    CHECK(walk.nodes[i].gradient.item() == gradients[i]);
    CHECK(walk.nodes[i].uses == uses[i]);
  }
  REQUIRE(walk.graphs.size() == 1);
  CHECK(walk.graphs[0].first == 0);
  CHECK(walk.graphs[0].last == 7);
  CHECK(walk.graphs[0].output == 6);
  REQUIRE(walk.steps.size() == 8);
  Positions order;
  for (const WalkStep& step : walk.steps) order.push_back(step.node);
  CHECK(order == Positions{2, 4, 5, 6, 6, 5, 4, 2});
  CHECK(a.grad().item() == -26);

  const WalkStep& last = step_of(walk, WalkStep::Kind::backward, "%3");
  REQUIRE(last.uses.size() == 2);
  CHECK(last.uses[0].input == 0);
  CHECK(last.uses[0].node == 0);
  CHECK(last.uses[0].use == 2);
  CHECK(last.uses[0].uses == 2);
  CHECK(last.uses[0].before.item() == 4);
  CHECK(last.uses[0].added.item() == -30);
  CHECK(last.uses[0].after.item() == -26);
  CHECK_FALSE(last.uses[1].before.defined());
  CHECK(last.uses[1].after.item() == 20);
  CHECK(walk.completed(last) == Positions{0, 1});
  CHECK(walk.completed(walk.steps[4]) == Positions{5});  // %5 gets more from %6
}

TEST_CASE("walk: a value used three times, twice by one op") {
  const Tensor x = leaf(3);
  Lesson lesson("", 1);
  lesson.walk("f", {{"x", x}}, [&] { return x * x + x; });
  const Walk& walk = lesson.result();
  const WalkStep& step = step_of(walk, WalkStep::Kind::backward, "%2");
  REQUIRE(step.uses.size() == 2);
  CHECK(step.uses[0].use == 2);
  CHECK(step.uses[1].use == 3);
  CHECK(step.uses[1].uses == 3);
  CHECK(step.uses[1].before.item() == 4);
  CHECK(step.uses[1].after.item() == 7);
  CHECK(walk.completed(step) == Positions{0});
}

TEST_CASE("walk: what leaves no node is linked by its memory, and named if the lesson names it") {
  const Tensor x = leaf({{1, 2}, {3, 4}}), mask = tensor({{1, 0}, {1, 1}}, DType::f64);
  Lesson lesson("", 1);
  lesson.walk("f", {{"x", x}, {"mask", mask}, {"missing", Tensor()}}, [&] {
    const Tensor kept = gt(mask, 0.5);
    const Tensor y = masked_fill(x, kept, 0);
    return sum(y * mask) + sum(y * mask * x.detach());
  });
  const Walk& walk = lesson.result();
  REQUIRE(calls(walk)[0] == "mask constant");
  std::size_t filled = 0;
  while (walk.nodes[filled].op.name != std::string("masked_fill")) ++filled;
  const Positions inputs = walk.nodes[filled].inputs;
  REQUIRE(inputs.size() >= 2);
  CHECK(walk.label(inputs[0]) == "x");
  const WalkNode& kept = walk.nodes[inputs[1]];
  CHECK(kept.kind == WalkNode::Kind::op);
  CHECK(kept.op.name == std::string("gt"));
  CHECK_FALSE(kept.gradient.defined());
  CHECK(kept.uses == 0);
  CHECK(kept.differences.empty());
  std::size_t leaves = 0, masks = 0;
  for (const WalkNode& node : walk.nodes) {
    leaves += node.name == "x";
    masks += node.name == "mask";
  }
  CHECK(leaves == 1);  // its detached form lies in the same memory
  CHECK(masks == 1);
}

TEST_CASE("walk: gradients that an op gives of constants lead nowhere") {
  Rng rng(1);
  const nn::LSTM lstm(2, 3, rng);  // its initial state is a constant
  const Tensor x = randn({1, 4, 2}, rng).requires_grad_();
  Lesson lesson("", 1);
  Names names = nn::named_parameters(lstm);
  names.emplace_back("x", x);
  lesson.walk("f", names, [&] { return sum(square(lstm(x).output)); });
  const Walk& walk = lesson.result();
  std::size_t sequences = 0;
  for (const WalkStep& step : walk.steps) {
    if (step.kind != WalkStep::Kind::backward) continue;
    if (walk.nodes[step.node].op.name != std::string("lstm_sequence")) continue;
    ++sequences;
    CHECK(step.uses.size() == 2);  // gates and weights, not the state
  }
  CHECK(sequences == 1);
  CHECK(check_walk(walk).wrong.empty());
}

TEST_CASE("walk: scopes that are opened twice are two, and leaves are where their users are") {
  const Tensor x = leaf({1, 2}), w = leaf({3, 4}), b = leaf({5, 6}), shared = leaf({1, 1});
  Lesson lesson("", 1);
  const auto layer = [&](const Tensor& in, const Tensor& weight) {
    const Scope scope("Layer");
    return in * weight * shared;
  };
  lesson.walk("f", {{"x", x}, {"0.w", w}, {"1.w", b}, {"shared.w", shared}}, [&] {
    const Scope scope("Model");
    return sum(layer(layer(x, w), b));
  });
  const Walk& walk = lesson.result();
  REQUIRE(walk.scopes.size() == 3);
  CHECK(walk.scopes[0].name == "Model");
  CHECK(walk.scopes[1].parent == 0);
  CHECK(walk.scopes[2].parent == 0);
  std::vector<std::string> paths(4);
  std::vector<std::size_t> scopes(4);
  const std::vector<std::string> names = {"x", "0.w", "1.w", "shared.w"};
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (walk.nodes[i].name != names[k]) continue;
      paths[k] = walk.path(i);
      scopes[k] = walk.nodes[i].scope;
    }
  }
  CHECK(paths == std::vector<std::string>{"", "Model/Layer", "Model/Layer", "Model"});
  CHECK(scopes == Positions{kNone, 1, 2, 0});
  CHECK(walk.path(walk.graphs[0].output) == "Model");
}

TEST_CASE("walk: several functions, each numbered from 1, with scopes of their own") {
  const Tensor x = leaf({1, 2});
  Lesson lesson("", 1);
  const auto f = [&] {
    const Scope scope("F");
    return sum(x * x);
  };
  lesson.say("first", "");
  lesson.walk("first", {}, f);
  lesson.walk("second", {{"x", x}}, f);
  const Walk& walk = lesson.result();
  REQUIRE(walk.graphs.size() == 2);
  CHECK(walk.graphs[1].title == "second");
  CHECK(walk.graphs[1].first == 3);
  CHECK(walk.graphs[1].last == 6);
  CHECK(walk.label(1) == "%2");
  CHECK(walk.label(4) == "%2");
  CHECK(walk.label(0) == "%1");
  CHECK(walk.label(3) == "x");
  CHECK(walk.nodes[4].inputs == Positions{3, 3});
  CHECK(walk.nodes[4].graph == 1);
  CHECK(walk.scopes.size() == 2);
  CHECK(walk.nodes[4].scope == 1);
  CHECK(walk.steps[5].graph == 1);
  CHECK(walk.graphs[1].dot.find("digraph") != std::string::npos);
  CHECK(walk.graphs[1].dot.find("= [1, 4]") != std::string::npos);
  CHECK(walk.graphs[1].dot.find("grad [4, 8]") != std::string::npos);  // as the leaf has it
  // The second walk's gradient is its own, though the leaf has kept both.
  CHECK(walk.nodes[3].gradient.to_vector<double>() == std::vector<double>{2, 4});
  CHECK(x.grad().to_vector<double>() == std::vector<double>{4, 8});
}

TEST_CASE("walk: values are copies, whatever happens to the leaves later") {
  const Tensor x = leaf({1, 2});
  Lesson lesson("", 1);
  lesson.walk("f", {{"x", x}}, [&] { return sum(reshape(x, {2, 1})); });
  assign(x, tensor({7, 7}, DType::f64));
  for (const std::size_t node : {0, 1}) {
    CHECK(lesson.result().nodes[node].value.to_vector<double>() == std::vector<double>{1, 2});
  }
}

TEST_CASE("walk: leaves that share their memory keep their names") {
  const Tensor x = leaf({1, 2});
  Tensor twin = x.detach();
  twin.requires_grad_();
  Lesson lesson("", 1);
  lesson.walk("f", {{"x", x}, {"twin", twin}}, [&] { return sum(x * twin); });
  CHECK(calls(lesson.result())[2] == "%3 mul x twin");
}

TEST_CASE("walk: what inputs are called") {
  const Op op("f", "x, w, b", "y = x w + b", "");
  CHECK(argument_name(op, 0) == "x");
  CHECK(argument_name(op, 2) == "b");
  CHECK(argument_name(op, 3) == "input 4");
  CHECK(argument_name(Op("concat", "x...", "", ""), 0) == "x1");
  CHECK(argument_name(Op("concat", "x...", "", ""), 2) == "x3");
  CHECK(argument_name(Op("g", "a, x...", "", ""), 0) == "a");
  CHECK(argument_name(Op("g", "a, x...", "", ""), 1) == "x1");
  CHECK(argument_name(Op("mine"), 1) == "input 2");
}

TEST_CASE("check_walk: counts, the worst, and which steps are wrong") {
  const Tensor x = leaf({1, -2, 0});
  Lesson lesson("", 1);
  lesson.walk("right", {{"x", x}}, [&] { return sum(square(x)); });
  const WalkCheck right = check_walk(lesson.result());
  CHECK(right.wrong.empty());
  CHECK(right.steps == 2);
  CHECK(right.differences == 6);
  CHECK(right.relative > 0);
  CHECK(right.relative < 1e-6);
  lesson.walk("a kink", {{"x", x}}, [&] {
    const Tensor kinked = sum(relu(x));
    return kinked + 0.5 * sum(x * x);
  });
  const WalkCheck wrong = check_walk(lesson.result());
  REQUIRE(wrong.wrong.size() == 1);
  CHECK(lesson.result().nodes[lesson.result().steps[wrong.wrong[0]].node].op.name ==
        std::string("relu"));
  CHECK(wrong.worst == wrong.wrong[0]);
  CHECK(wrong.relative == doctest::Approx(1));  // 0 beside 1/2
}
