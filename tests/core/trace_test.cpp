// What a trace records, what its values are, and that it leaves nothing behind.
#include "core/trace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <thread>

#include "core/autograd.h"
#include "core/create.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/random.h"
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
    names.push_back(std::string(step.backward ? "backward " : "") + step.op.name);
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
  CHECK(path_of(first.scope) == "Model/Layer");
  CHECK(first.node == product.node()->sequence);
  CHECK(first.input_nodes == std::vector<std::uint64_t>{x.node()->sequence, 0});
  REQUIRE(first.inputs.size() == 2);
  CHECK(values(first.inputs[0]) == Floats{1, 2});
  CHECK(values(first.inputs[1]) == Floats{3, 4});
  CHECK(values(first.outputs.at(0)) == Floats{3, 8});
  CHECK_FALSE(first.inputs[0].requires_grad());
  CHECK_FALSE(first.outputs[0].requires_grad());
  const TraceStep& second = trace.steps()[1];
  CHECK(second.scope == nullptr);
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
  CHECK(std::string_view(trace.steps()[first].op.name) == "sum");
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

namespace {

// What f gives when one element of what a step puts out is changed by `amount`.
double nudged(const std::function<Tensor()>& f, std::size_t step, std::int64_t element,
              double amount) {
  const Trace trace(Nudge{step, element, amount});
  const Tensor y = f();
  CHECK(trace.nudged());
  return y.item();
}

// Goes through every value that f, a function to one number, computes on the way, and compares
// central differences by nudges with the gradient that backward has there. Returns how many steps
// were compared.
int compare_interior(const std::string& name, const std::function<Tensor()>& f) {
  std::vector<TraceStep> steps;
  {
    const Trace trace;
    f().backward();
    steps = trace.steps();
  }
  std::map<std::uint64_t, Tensor> gradients;  // complete when a node's turn comes
  for (const TraceStep& step : steps) {
    const bool sum = step.op.name == std::string_view("accumulate");
    if (step.backward && !sum) gradients[step.node] = step.inputs[0];
  }
  int compared = 0;
  for (std::size_t i = 0; i < steps.size() && !steps[i].backward; ++i) {
    const TraceStep& step = steps[i];
    if (step.node == 0) continue;
    ++compared;
    const bool flows = gradients.count(step.node) == 1;  // else nothing depends on it
    for (std::int64_t element = 0; element < step.outputs[0].numel(); element += 3) {
      const auto at = static_cast<std::size_t>(element);
      const double wanted = flows ? gradients[step.node].to_vector<double>()[at] : 0;
      const double h = 1e-6;
      const double difference = (nudged(f, i, element, h) - nudged(f, i, element, -h)) / (2 * h);
      CHECK_MESSAGE(std::abs(difference - wanted) <= 1e-5 * std::abs(wanted) + 1e-8,
                    name << ", step " << i << " (" << std::string(step.op.name) << "), element "
                         << element << ": " << difference << ", backward says " << wanted);
    }
  }
  return compared;
}

using Inputs = std::vector<Tensor>;

struct Function {
  std::string name;
  std::vector<Shape> shapes;  // of its inputs
  std::function<Tensor(const Inputs&)> value;
};

// Ops of every kind: views, copies, selections, fused ones, those that record a part of their
// result only, those whose handles are made before record().
const std::vector<Function> kFunctions = {
    {"lstm_sequence",
     {{3, 2, 8}, {8, 2}, {2, 2}, {2, 2}},
     [](const Inputs& in) {
       const auto [y, state] =
           lstm_sequence(in[0], in[1], {in[2], in[3]}, {tensor({3, 2}, DType::i64)});
       return concat({reshape(y, {-1}), reshape(state.h, {-1}), reshape(state.c, {-1})});
     }},
    {"gru_sequence",
     {{3, 2, 6}, {6, 2}, {6}, {2, 2}},
     [](const Inputs& in) { return gru_sequence(in[0], in[1], in[2], in[3]).output; }},
    {"lstm_cell",
     {{2, 8}, {2, 2}},
     [](const Inputs& in) {
       const auto [h, c] = lstm_cell(in[0], in[1]);
       return h * c;
     }},
    {"conv2d",
     {{1, 2, 4, 4}, {3, 2, 2, 2}, {3}},
     [](const Inputs& in) {
       return max_pool2d(conv2d(tanh(in[0]), in[1], in[2]), {.kernel = {2, 2}});
     }},
    {"conv1d",
     {{1, 2, 5}, {2, 2, 3}, {2}},
     [](const Inputs& in) { return avg_pool1d(conv1d(in[0], in[1], in[2]), {.kernel = 2}); }},
    {"softmax", {{3, 4}}, [](const Inputs& in) { return log(softmax(in[0] * 2.0, 0)) * in[0]; }},
    {"masked softmax",
     {{3, 3}},
     [](const Inputs& in) {
       const Tensor squares = square(in[0]);  // the first step, whatever the compiler
       return softmax(in[0], tril(ones({3, 3}, DType::boolean))) * squares;
     }},
    {"concat and stack",
     {{2, 3}, {1, 3}},
     [](const Inputs& in) {
       const Tensor both = concat({sin(in[0]), in[1], in[1]});
       return stack({both, both * 2.0});
     }},
    {"split",
     {{5, 2}},
     [](const Inputs& in) {
       const std::vector<Tensor> parts = split(exp(in[0]), 2);
       return parts[0] * parts[1] + parts[2];
     }},
    {"expand",
     {{3, 1}},
     [](const Inputs& in) {
       const Tensor wide = expand(exp(in[0]), {2, 3, 2});
       return wide * transpose(wide, 0, 2);
     }},
    {"topk", {{2, 5}}, [](const Inputs& in) { return square(topk(exp(in[0]), 2).values); }},
    {"sort and max",
     {{2, 5}},
     [](const Inputs& in) { return cumsum(sort(in[0]).values, 1) * max(in[0], {1}, true); }},
    {"select and slice",
     {{4, 3}},
     [](const Inputs& in) {
       const Tensor y = tanh(in[0]);
       return select(y, 0, 2) * slice(y, 0, 0, 4, 2) + slice(flip(y, {0, 1}), 0, 1, 3);
     }},
    {"embedding",
     {{4, 3}},
     [](const Inputs& in) {
       return embedding(square(in[0]), tensor({1, 3, 1}, DType::i64));
     }},
    {"layer_norm",
     {{2, 4}, {4}, {4}},
     [](const Inputs& in) { return relu(layer_norm(in[0] + 1.0, in[1], in[2])); }},
    {"linear and cross_entropy",
     {{3, 2}, {4, 2}, {4}},
     [](const Inputs& in) {
       return cross_entropy(linear(in[0], in[1], in[2]), tensor({2, 0, 3}, DType::i64));
     }},
    {"matmul and dropout",
     {{2, 3}, {3, 2}},
     [](const Inputs& in) {
       Rng rng(7);
       const TrainingScope training(rng);
       return matmul(dropout(in[0] * 3.0, 0.4), in[1]);
     }},
    {"computed for nothing",
     {{3}},
     [](const Inputs& in) {
       const Tensor unused = exp(in[0]);
       return square(in[0]);
     }},
};

}  // namespace

TEST_CASE("nudge: central differences of what is computed on the way are the gradients there") {
  Rng rng(5);
  for (const Function& function : kFunctions) {
    Inputs leaves;
    for (const Shape& shape : function.shapes) {
      leaves.push_back(randn(shape, rng, DType::f64).requires_grad_());
    }
    const Shape shape = function.value(leaves).shape();
    const Tensor weight = randn(shape, rng, DType::f64);
    CHECK(compare_interior(function.name, [&] { return sum(function.value(leaves) * weight); }) >
          2);
  }
}

TEST_CASE("nudge: every run has the same steps, with a nudge, without, and without history") {
  Rng rng(6);
  for (const Function& function : kFunctions) {
    Inputs leaves;
    for (const Shape& shape : function.shapes) {
      leaves.push_back(randn(shape, rng, DType::f64).requires_grad_());
    }
    const auto steps = [&](const Trace& trace) {
      function.value(leaves);
      return ops_of(trace);
    };
    const Names plain = steps(Trace());
    CHECK_FALSE(plain.empty());
    CHECK(steps(Trace()) == plain);
    CHECK(steps(Trace(Nudge{0, 0, 1e-6})) == plain);
    const NoGrad no_grad;
    CHECK_MESSAGE(steps(Trace(Nudge{0, 0, 1e-6})) == plain, function.name);
  }
}

TEST_CASE("nudge: one element of one step changes, and what is computed from it") {
  const Tensor x = tensor({1, 2});
  const Trace trace(Nudge{1, 1, 0.5});
  const Tensor y = mul(x, x);
  CHECK_FALSE(trace.nudged());
  const Tensor z = mul(y, x);
  CHECK(trace.nudged());
  const Tensor total = sum(z);
  CHECK(values(y) == Floats{1, 4});
  CHECK(values(z) == Floats{1, 8.5f});
  CHECK(total.item() == 9.5);
  CHECK(values(trace.steps().at(1).outputs.at(0)) == Floats{1, 8.5f});
  CHECK(values(trace.steps().at(2).inputs.at(0)) == Floats{1, 8.5f});
}

TEST_CASE("nudge: of the last step") {
  const Tensor x = tensor({1, 2}, DType::f64);
  const Trace trace(Nudge{1, 0, -0.25});
  CHECK(sum(mul(x, x)).item() == 4.75);
  CHECK(trace.nudged());
}

TEST_CASE("nudge: of a view changes the view alone") {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  {
    const Trace trace(Nudge{0, 1, 0.5});
    const Tensor y = transpose(x);
    CHECK(values(y) == Floats{1, 3.5f, 2, 4});
    CHECK(values(x) == Floats{1, 2, 3, 4});
    CHECK(values(trace.steps().at(0).inputs.at(0)) == Floats{1, 2, 3, 4});
    CHECK(values(trace.steps().at(0).outputs.at(0)) == Floats{1, 3.5f, 2, 4});
  }
  {
    const Trace trace(Nudge{0, 2, 0.5});  // its elements share one place
    CHECK(values(expand(tensor({7}), {4})) == Floats{7, 7, 7.5f, 7});
  }
  {
    const Trace trace(Nudge{1, 0, 0.5});  // the second of two parts, at an offset
    const std::vector<Tensor> parts = split(x, 1);
    CHECK(values(parts[0]) == Floats{1, 2});
    CHECK(values(parts[1]) == Floats{3.5f, 4});
  }
  CHECK(values(x) == Floats{1, 2, 3, 4});
}

TEST_CASE("nudge: a tensor viewed by others changes with its views") {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  const Trace trace(Nudge{0, 1, 0.5});
  const Tensor y = mul(x, x);
  const Tensor t = transpose(y);
  CHECK(values(t) == Floats{1, 9, 4.5f, 16});
}

TEST_CASE("nudge: backward goes by what the op computed: a nudge is a constant added to it") {
  const Tensor x = Tensor(tensor({0.5}, DType::f64)).requires_grad_();
  const Trace trace(Nudge{0, 0, 1});
  const Tensor y = exp(x);  // saves its output
  sum(mul(y, y)).backward();
  const double e = std::exp(0.5);
  CHECK(x.grad().item() == doctest::Approx(2 * (e + 1) * e).epsilon(1e-12));
}

TEST_CASE("nudge: a step that never comes, or a backward one, leaves all as it is") {
  Tensor x = leaf({1, 2});
  for (const std::size_t step : {std::size_t{2}, std::size_t{3}, std::size_t{99}}) {
    x.zero_grad();
    const Trace trace(Nudge{step, 0, 1});
    const Tensor y = sum(mul(x, x));
    y.backward();
    CHECK(trace.steps().size() == 6);
    CHECK(y.item() == 5);
    CHECK(values(x.grad()) == Floats{2, 4});
    CHECK_FALSE(trace.nudged());
  }
}

TEST_CASE("nudge: an element that is not there, or is no floating number, is an error") {
  const Tensor x = tensor({1, 2});
  {
    const Trace trace(Nudge{0, 2, 1});
    CHECK_THROWS_WITH_AS(mul(x, x),
                         "nudge: step 0 is 'mul', which puts out shape [2]: there is no element 2",
                         Error);
  }
  {
    const Trace trace(Nudge{0, -1, 1});
    CHECK_THROWS_AS(mul(x, x), Error);
  }
  const Trace trace(Nudge{0, 0, 1});
  CHECK_THROWS_WITH_AS(argmax(x), "nudge: step 0 is 'argmax', which puts out i64, not f32 or f64",
                       Error);
}

TEST_CASE("nudge: of nested traces the innermost decides") {
  const Tensor x = tensor({1, 2});
  const Trace outer(Nudge{1, 0, 10});
  const Tensor a = mul(x, x);
  {
    const Trace inner;
    CHECK(values(mul(x, x)) == Floats{1, 4});  // step 1 of the outer one
  }
  CHECK_FALSE(outer.nudged());
  {
    const Trace inner(Nudge{1, 1, 0.5});
    CHECK(values(mul(x, x)) == Floats{1, 4});
    CHECK(values(mul(x, x)) == Floats{1, 4.5f});
  }
  CHECK(values(outer.steps().at(3).outputs.at(0)) == Floats{1, 4.5f});
}

TEST_CASE("trace: two openings of one scope can be told apart") {
  const Tensor x = tensor({1, 2});
  const Trace trace;
  const auto layer = [&] {
    const Scope scope("Layer");
    const Tensor y = mul(mul(x, x), x);
  };
  layer();
  layer();
  REQUIRE(trace.steps().size() == 4);
  CHECK(trace.steps()[0].scope == trace.steps()[1].scope);
  CHECK(path_of(trace.steps()[1].scope) == path_of(trace.steps()[2].scope));
  CHECK(trace.steps()[1].scope != trace.steps()[2].scope);
}

TEST_CASE("trace: a gradient that nobody needs is not there, even if an op computed it") {
  const Tensor x = leaf({1, 2}), constant = tensor({3, 4});
  const Tensor y = record(x.detach() * 2.0, "generous", {x, constant}, {},
                          [](const BackwardContext& c) -> Grads {
                            return {c.grad, c.grad};
                          });
  const Trace trace;
  sum(y).backward();
  const auto& steps = trace.steps();
  const auto step = std::find_if(steps.begin(), steps.end(), [](const TraceStep& s) {
    return s.backward && std::string_view(s.op.name) == "generous";
  });
  REQUIRE(step != steps.end());
  REQUIRE(step->outputs.size() == 2);
  CHECK(values(step->outputs[0]) == Floats{1, 1});
  CHECK_FALSE(step->outputs[1].defined());
}
