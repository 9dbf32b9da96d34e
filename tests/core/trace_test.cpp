// What a trace records, what its values are, and that it leaves nothing behind.
#include "core/trace.h"

#include <doctest/doctest.h>

#include <string_view>
#include <thread>

#include "core/autograd.h"
#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "core/storage.h"

using namespace gradzoo;

namespace {

using Floats = std::vector<float>;

Floats values(const Tensor& x) { return x.to_vector<float>(); }

Tensor leaf(const Nested& numbers) {
  Tensor x = tensor(numbers);
  x.requires_grad_();
  return x;
}

std::vector<std::string> ops_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const TraceStep& step : trace.steps()) {
    names.push_back(std::string(step.backward ? "backward " : "") + step.op);
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("trace: every op in order, with its inputs, output, scope and nodes") {
  const Tensor x = leaf({1, 2}), y = tensor({3, 4});
  const Trace trace;
  Tensor product, total;
  {
    const Scope outer("Model");
    const Scope inner("Layer");
    product = mul(x, y);
  }
  total = sum(product);
  REQUIRE(ops_of(trace) == Names{"mul", "sum"});
  const TraceStep& first = trace.steps()[0];
  CHECK(first.scope == "Model/Layer");
  CHECK(first.node == product.node()->sequence);
  CHECK(first.input_nodes == std::vector<std::uint64_t>{x.node()->sequence, 0});
  REQUIRE(first.inputs.size() == 2);
  CHECK(values(first.inputs[0]) == Floats{1, 2});
  CHECK(values(first.inputs[1]) == Floats{3, 4});
  CHECK(values(first.outputs.at(0)) == Floats{3, 8});
  CHECK_FALSE(first.inputs[0].requires_grad());
  CHECK_FALSE(first.outputs[0].requires_grad());
  const TraceStep& second = trace.steps()[1];
  CHECK(second.scope.empty());
  CHECK(second.input_nodes == std::vector<std::uint64_t>{product.node()->sequence});
  CHECK(second.outputs.at(0).item() == 11);
}

TEST_CASE("trace: ops without history are steps too") {
  const Trace trace;
  const Tensor y = add(tensor({1}), tensor({2}));
  REQUIRE(ops_of(trace) == Names{"add"});
  CHECK(trace.steps()[0].node == 0);
  CHECK(trace.steps()[0].input_nodes == std::vector<std::uint64_t>{0, 0});
  CHECK(trace.steps()[0].outputs.at(0).item() == 3);
}

TEST_CASE("trace: a backward pass, step by step, gives the gradients of grad()") {
  Tensor x = leaf({1, 2}), y = leaf({3, 5});
  const auto f = [&] { return sum(mul(mul(x, y), x)); };  // x*x*y: x is used twice
  const std::vector<Tensor> expected = grad({f()}, {x, y});
  const Trace trace;
  const Tensor out = f();
  out.backward();
  REQUIRE(ops_of(trace) == Names{"mul", "mul", "sum", "backward sum", "backward mul",
                                 "backward mul", "backward accumulate", "backward accumulate",
                                 "backward accumulate"});
  const TraceStep& of_sum = trace.steps()[3];
  CHECK(values(of_sum.inputs.at(0)) == Floats{1});
  CHECK(values(of_sum.outputs.at(0)) == Floats{1, 1});
  CHECK(of_sum.node == out.node()->sequence);
  const TraceStep& of_second = trace.steps()[4];
  CHECK(of_second.input_nodes.at(1) == x.node()->sequence);
  CHECK(values(of_second.inputs.at(0)) == Floats{1, 1});
  CHECK(values(of_second.outputs.at(0)) == Floats{1, 2});
  CHECK(values(of_second.outputs.at(1)) == Floats{3, 10});
  const TraceStep& meeting = trace.steps()[6];
  CHECK(meeting.node == x.node()->sequence);
  REQUIRE(meeting.inputs.size() == 2);
  CHECK(values(meeting.inputs[0]) == Floats{3, 10});
  CHECK(values(meeting.inputs[1]) == Floats{3, 10});
  CHECK(values(meeting.outputs.at(0)) == values(expected[0]));
  for (const std::size_t i : {std::size_t{7}, std::size_t{8}}) {
    const TraceStep& kept = trace.steps()[i];
    const bool is_x = kept.node == x.node()->sequence;
    CHECK(kept.inputs.size() == 1);
    CHECK(values(kept.outputs.at(0)) == values(expected[is_x ? 0 : 1]));
  }
  CHECK(trace.steps()[7].node != trace.steps()[8].node);
  CHECK(values(x.grad()) == values(expected[0]));
}

TEST_CASE("trace: adding to a gradient that is there shows both and the sum") {
  Tensor x = leaf({1, 2});
  sum(mul(x, x)).backward();
  const Tensor y = sum(x);
  const Trace trace;
  y.backward();
  REQUIRE(ops_of(trace) == Names{"backward sum", "backward accumulate"});
  const TraceStep& step = trace.steps()[1];
  REQUIRE(step.inputs.size() == 2);
  CHECK(values(step.inputs[0]) == Floats{2, 4});
  CHECK(values(step.inputs[1]) == Floats{1, 1});
  CHECK(values(step.outputs.at(0)) == Floats{3, 5});
}

TEST_CASE("trace: an output given twice is one step that adds, not an op") {
  const Tensor x = leaf({3});
  const Tensor y = mul(x, x);
  const Trace trace;
  const Tensor g = grad({y, y}, {x}).at(0);
  CHECK(g.item() == 12);
  CHECK(ops_of(trace).at(0) == "backward accumulate");
  for (const TraceStep& step : trace.steps()) CHECK(step.backward);
}

TEST_CASE("trace: a gradient that is not needed is undefined in its step") {
  const Tensor x = leaf({1, 2}), y = tensor({3, 4});
  const Tensor out = sum(mul(x, y));
  const Trace trace;
  const Tensor g = grad({out}, {x}).at(0);
  const TraceStep& step = trace.steps().at(1);
  CHECK(step.input_nodes == std::vector<std::uint64_t>{x.node()->sequence, 0});
  CHECK(values(step.outputs.at(0)) == values(g));
  CHECK_FALSE(step.outputs.at(1).defined());
}

TEST_CASE("trace: gradients with a graph of their own are the same steps") {
  const Tensor x = leaf({2, 3});
  const Trace trace;
  const Tensor y = sum(mul(mul(x, x), x));
  const Tensor g = grad({y}, {x}, {.create_graph = true}).at(0);
  const std::size_t first = trace.steps().size();
  CHECK(values(g) == Floats{12, 27});
  const Tensor h = grad({sum(g)}, {x}).at(0);
  CHECK(values(h) == Floats{12, 18});
  CHECK(trace.steps().size() > first + 3);
  CHECK_FALSE(trace.steps()[first].backward);
  CHECK(std::string_view(trace.steps()[first].op) == "sum");
}

TEST_CASE("trace: values stay what they were when a parameter is overwritten") {
  Tensor w = leaf({{1, 2}, {3, 4}});
  const Tensor other = leaf({5});
  const Trace trace;
  const Tensor y = sum(transpose(w));
  const Tensor z = mul(other, other);
  const std::size_t before = memory::live_bytes();
  {
    const NoGrad no_grad;
    assign(w, tensor({{9, 9}, {9, 9}}));
  }
  CHECK(memory::live_bytes() == before + w.impl().storage->bytes());  // one copy for all
  CHECK(values(w) == Floats{9, 9, 9, 9});
  CHECK(values(trace.steps().at(0).inputs.at(0)) == Floats{1, 2, 3, 4});
  CHECK(values(trace.steps().at(0).outputs.at(0)) == Floats{1, 3, 2, 4});
  CHECK(trace.steps()[0].inputs[0].impl().storage == trace.steps()[0].outputs[0].impl().storage);
  CHECK(trace.steps().at(2).inputs.at(0).impl().storage == other.impl().storage);
  const Tensor again = sum(w);
  assign(w, tensor({{0, 0}, {0, 0}}));
  CHECK(values(trace.steps().at(0).inputs.at(0)) == Floats{1, 2, 3, 4});
  CHECK(values(trace.steps().back().inputs.at(0)) == Floats{9, 9, 9, 9});
}

TEST_CASE("trace: one inside another records for both, and both keep overwritten values") {
  Tensor x = leaf({1});
  const Trace outer;
  const Tensor a = mul(x, x);
  {
    const Trace inner;
    const Tensor b = add(x, x);
    assign(x, tensor({7}));
    CHECK(ops_of(inner) == Names{"add"});
    CHECK(inner.steps()[0].inputs.at(0).item() == 1);
  }
  const Tensor c = add(x, x);
  CHECK(ops_of(outer) == Names{"mul", "add", "add"});
  CHECK(outer.steps()[0].inputs.at(0).item() == 1);
  CHECK(outer.steps()[1].inputs.at(0).item() == 1);
  CHECK(outer.steps()[2].inputs.at(0).item() == 7);
}

TEST_CASE("trace: other threads have their own") {
  const Tensor x = tensor({1, 2});
  const Trace here;
  Names there;
  std::thread([&] {
    const Tensor unseen = mul(x, x);
    const Trace trace;
    const Tensor seen = add(x, x);
    there = ops_of(trace);
  }).join();
  const Tensor y = sum(x);
  CHECK(ops_of(here) == Names{"sum"});
  CHECK(there == Names{"add"});
}

TEST_CASE("trace: nothing is recorded before, after, or kept once it has closed") {
  const std::size_t before = memory::live_bytes();
  {
    Tensor x = leaf({1, 2, 3});
    const std::size_t with_x = memory::live_bytes();
    {
      const Trace trace;
      sum(mul(mul(x, x), x)).backward();
      CHECK(memory::live_bytes() > with_x + 12);
    }
    CHECK(memory::live_bytes() == with_x + 12);  // the gradient of x
    CHECK(modes().trace == nullptr);
    const Tensor y = mul(x, x);
    x.zero_grad();
  }
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("trace: steps can be kept longer than the trace") {
  const Tensor x = leaf({2});
  std::vector<TraceStep> steps;
  {
    const Trace trace;
    const Tensor y = mul(x, x);
    steps = trace.steps();
  }
  CHECK(steps.at(0).outputs.at(0).item() == 4);
}
