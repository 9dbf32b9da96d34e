// The backward pass: what it computes, what it refuses, and what it leaves behind.
#include "core/autograd.h"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

namespace {

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return Tensor(tensor(values, dtype)).requires_grad_();
}

std::vector<double> list(const Tensor& x) { return x.to_vector<double>(); }

// x^2 through an op with a vjp of the caller's.
Tensor planted(const Tensor& x, const char* name, Vjp vjp) {
  return record(x.detach() * x.detach(), name, {x}, {x}, std::move(vjp));
}

}  // namespace

TEST_CASE("a tensor used five times in a diamond gets the sum of five gradients") {
  const Tensor x = leaf({0.5, -1.25, 2.0});
  const Tensor u = tensor({1.0, -2.0, 0.5}, DType::f64);
  // x^2 + x exp(x) + (x - x^2): the first and fourth paths meet again in x^2.
  const Tensor square = x * x;
  const Tensor y = square + x * exp(x) + (x - square * 3.0);
  y.backward(u);
  for (int i = 0; i < 3; ++i) {
    const double v = x.at({i});
    const double wanted = 2 * v + std::exp(v) * (1 + v) + 1 - 6 * v;
    CHECK(x.grad().at({i}) == doctest::Approx(u.at({i}) * wanted).epsilon(1e-14));
  }
}

TEST_CASE("a random graph of many shared nodes: gradients equal sums over paths") {
  // Every node is the sum of two earlier ones, each times a number, so that the derivative with
  // respect to the leaf follows the same recursion.
  Rng rng(5);
  const Tensor x = leaf({1.0});
  std::vector<Tensor> nodes = {x};
  std::vector<double> slopes = {1};
  for (int i = 0; i < 200; ++i) {
    const auto pick = [&] {
      return static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(nodes.size())));
    };
    const std::size_t a = pick(), b = pick();
    const double p = rng.uniform() - 0.5, q = rng.uniform() - 0.5;
    nodes.push_back(nodes[a] * p + nodes[b] * q);
    slopes.push_back(slopes[a] * p + slopes[b] * q);
  }
  for (const std::size_t last : {nodes.size() - 1, nodes.size() / 2}) {
    const Tensor gradient =
        grad({nodes[last]}, {x}, {.retain_graph = true, .allow_unused = true})[0];
    REQUIRE(gradient.defined());
    CHECK(gradient.item() == doctest::Approx(slopes[last]).epsilon(1e-12));
  }
}

TEST_CASE("a chain of 1,000,000 ops forward, backward and freed") {
  const std::size_t before = memory::live_bytes();
  {
    const Tensor x = leaf({1.5}, DType::f32);
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = neg(y);
    CHECK(y.item() == 1.5);
    y.backward();
    CHECK(x.grad().item() == 1);
    Tensor again = x;
    for (int i = 0; i < 1'000'000; ++i) again = neg(again);
    again = Tensor();  // freed without a backward
  }
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("gradients of leaves add up over backward passes until they are zeroed") {
  Tensor x = leaf({1, 2});
  sum(x * 3.0).backward();
  sum(x * x).backward();
  CHECK(list(x.grad()) == std::vector<double>{5, 7});
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
  sum(x * x).backward();
  CHECK(list(x.grad()) == std::vector<double>{2, 4});
}

TEST_CASE("a second backward is refused, with the op's name") {
  const Tensor x = leaf({2.0});
  const Tensor y = exp(x * x);
  y.backward();
  CHECK_THROWS_WITH_AS(y.backward(),
                       "backward: the graph was released at 'exp' by an earlier backward; compute "
                       "it anew, or keep it with retain_graph",
                       Error);
  CHECK_THROWS_AS(grad({y}, {x}), Error);
  CHECK(x.grad().item() == doctest::Approx(4 * std::exp(4.0)));
}

TEST_CASE("a graph that shares a released part is refused before any gradient is touched") {
  const Tensor x = leaf({2.0}), z = leaf({3.0});
  const Tensor shared = x * x;
  const Tensor first = shared * 2.0, second = shared * z;
  first.backward();
  CHECK_THROWS_WITH_AS(second.backward(),
                       "backward: the graph was released at 'mul' by an earlier backward; compute "
                       "it anew, or keep it with retain_graph",
                       Error);
  CHECK(x.grad().item() == 8);
  CHECK_FALSE(z.grad().defined());
}

TEST_CASE("retain_graph: the same gradients twice, then backward") {
  const Tensor x = leaf({0.7});
  const Tensor y = exp(x) * x;
  const auto once = grad({y}, {x}, {.retain_graph = true});
  const auto twice = grad({y}, {x}, {.retain_graph = true});
  CHECK(once[0].item() == twice[0].item());
  CHECK_FALSE(x.grad().defined());
  y.backward();
  CHECK(x.grad().item() == once[0].item());
}

TEST_CASE("an optimizer's assign between forward and backward is refused, with the op's name") {
  const Tensor w = leaf({2.0}), x = leaf({3.0});
  const Tensor loss = exp(w) + w * x;
  assign(w, tensor({1.0}, DType::f64));
  CHECK_THROWS_WITH_AS(loss.backward(),
                       "backward of 'mul': a value it saved was overwritten after the forward pass "
                       "(version 1, saved at 0)",
                       Error);
  CHECK_FALSE(w.grad().defined());
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a refused backward has released nothing: other parts can still be walked") {
  const Tensor w = leaf({2.0}), x = leaf({3.0});
  const Tensor product = w * x;
  const Tensor y = exp(product);
  assign(w, tensor({1.0}, DType::f64));
  CHECK_THROWS_AS(y.backward(), Error);
  CHECK(grad({y}, {product})[0].item() == doctest::Approx(std::exp(6.0)));
}

TEST_CASE("what backward does not need may be overwritten") {
  const Tensor w = leaf({2.0});
  const Tensor loss = exp(w) + w;  // exp keeps its output
  assign(w, tensor({1.0}, DType::f64));
  loss.backward();
  CHECK(w.grad().item() == doctest::Approx(std::exp(2.0) + 1));
}

TEST_CASE("a graph freed leaves no bytes behind") {
  const std::size_t before = memory::live_bytes();
  SUBCASE("after backward") {
    const Tensor x = Tensor(rand({64, 64}, *std::make_unique<Rng>(1))).requires_grad_();
    const std::size_t with_leaf = memory::live_bytes();
    const Tensor loss = sum(exp(x * x) * x);
    loss.backward();
    // What was saved is gone though the loss still lives: the leaf's gradient and the loss.
    CHECK(memory::live_bytes() == with_leaf + 64 * 64 * 4 + 4);
  }
  SUBCASE("without backward") { exp(leaf({1, 2, 3}) * leaf({1, 2, 3})); }
  SUBCASE("after create_graph") {
    const Tensor x = leaf({1, 2, 3});
    const auto g = grad({sum(exp(x) * x)}, {x}, {.create_graph = true});
    grad({sum(g[0] * g[0])}, {x}, {.create_graph = true});
  }
  SUBCASE("after an error in a vjp") {
    const Tensor x = leaf({1, 2, 3});
    const Tensor y = exp(planted(x, "broken", [](const auto&) -> Grads { fail("broken: {}", 1); }));
    CHECK_THROWS_WITH_AS(sum(y).backward(), "broken: 1", Error);
    CHECK_FALSE(x.grad().defined());
  }
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("create_graph: three derivatives of x^4, and a fourth and fifth") {
  const Tensor x = leaf({1.5, -2.0});
  Tensor y = x * x * x * x;
  const auto next = [&](const Tensor& of) {
    return grad({of}, {x}, {.grad_outputs = {ones_like(of.detach())}, .create_graph = true})[0];
  };
  y = next(y);
  CHECK(list(y) == std::vector<double>{4 * 1.5 * 1.5 * 1.5, -32});
  y = next(y);
  CHECK(list(y) == std::vector<double>{27, 48});
  y = next(y);
  CHECK(list(y) == std::vector<double>{36, -48});
  y = next(y);
  CHECK(list(y) == std::vector<double>{24, 24});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("create_graph: a gradient penalty reaches the weights through backward") {
  const Tensor x = leaf({0.3}), w = leaf({0.8});
  const Tensor y = exp(w * x);
  const Tensor slope = grad({y}, {x}, {.create_graph = true})[0];  // w exp(w x)
  CHECK(slope.requires_grad());
  sum(slope * slope).backward();
  const double e = std::exp(0.24);
  CHECK(w.grad().item() == doctest::Approx(2 * 0.8 * e * (e + 0.8 * 0.3 * e)).epsilon(1e-13));
}

TEST_CASE("gradients without create_graph have no history") {
  const Tensor x = leaf({0.3});
  CHECK_FALSE(grad({exp(x)}, {x})[0].requires_grad());
  exp(x).backward();
  CHECK_FALSE(x.grad().requires_grad());
}

TEST_CASE("allow_unused: undefined for what the outputs do not depend on, else an error") {
  const Tensor x = leaf({1.0}), other = leaf({2.0});
  const auto grads = grad({x * 2.0}, {other, x}, {.allow_unused = true});
  CHECK_FALSE(grads[0].defined());
  CHECK(grads[1].item() == 2);
  CHECK_THROWS_WITH_AS(
      grad({x * 2.0}, {x, other}),
      "grad: the outputs do not depend on input 1; allow_unused gives an undefined gradient",
      Error);
}

TEST_CASE("grad with respect to what was computed on the way") {
  const Tensor x = leaf({0.5});
  const Tensor a = x * x, b = exp(a), c = b * a;
  const auto grads = grad({c}, {a, b, x, c}, {.retain_graph = true});
  CHECK(grads[0].item() == doctest::Approx(std::exp(0.25) * 1.25));  // through b and directly
  CHECK(grads[1].item() == 0.25);
  CHECK(grads[2].item() == doctest::Approx(std::exp(0.25) * 1.25));
  CHECK(grads[3].item() == 1);
  // An inner target alone: the leaf below is not walked to.
  CHECK(grad({c}, {b})[0].item() == 0.25);
}

TEST_CASE("grad of several outputs, weighted by grad_outputs, the same input twice") {
  const Tensor x = leaf({1.0, 2.0});
  const Tensor a = x * 3.0, b = x * x;
  const auto grads = grad({a, b, a}, {x, x},
                          {.grad_outputs = {tensor({1, 0}, DType::f64), tensor({1, 10}, DType::f64),
                                            tensor({0, 1}, DType::f64)}});
  CHECK(list(grads[0]) == std::vector<double>{5, 43});
  CHECK(list(grads[1]) == std::vector<double>{5, 43});
}

TEST_CASE("backward and grad refuse what they cannot start from") {
  const Tensor x = leaf({1.0, 2.0});
  const Tensor y = x * 2.0;
  CHECK_THROWS_WITH_AS(y.backward(),
                       "backward: a gradient is needed to start from a tensor of shape [2]; only "
                       "one element needs none",
                       Error);
  CHECK_THROWS_WITH_AS(y.backward(tensor({{1, 2}}, DType::f64)),
                       "backward: the gradient is f64 [1, 2], the output f64 [2]", Error);
  CHECK_THROWS_WITH_AS(y.backward(tensor({1, 2})),
                       "backward: the gradient is f32 [2], the output f64 [2]", Error);
  CHECK_THROWS_WITH_AS(x.detach().backward(),
                       "backward: the tensor does not depend on anything that requires a gradient",
                       Error);
  CHECK_THROWS_WITH_AS(grad({y}, {x}, {.grad_outputs = {y, y}}),
                       "grad: 2 grad_outputs for 1 outputs", Error);
  CHECK_THROWS_WITH_AS(grad({sum(y)}, {x.detach()}), "grad: input 0 does not require a gradient",
                       Error);
  CHECK_THROWS_AS(Tensor().backward(), Error);
}

TEST_CASE("a vjp with the wrong number, shape or dtype of gradients is an error naming the op") {
  const Tensor x = leaf({1.0, 2.0});
  const auto run = [&](Vjp vjp) { sum(planted(x, "odd", std::move(vjp))).backward(); };
  CHECK_THROWS_WITH_AS(run([](const auto& c) -> Grads {
                         return {c.grad, c.grad};
                       }),
                       "backward of 'odd': 2 gradients for 1 inputs", Error);
  CHECK_THROWS_WITH_AS(run([](const auto&) -> Grads { return {}; }),
                       "backward of 'odd': 0 gradients for 1 inputs", Error);
  CHECK_THROWS_WITH_AS(run([](const auto& c) -> Grads { return {to(c.grad, DType::f32)}; }),
                       "backward of 'odd': the gradient of input 0 is f32 [2], the input f64 [2]",
                       Error);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("an op without a gradient says so, and only when one is asked for") {
  const Tensor x = leaf({1.0, 2.0}), w = leaf({3.0, 4.0});
  const Tensor y = sum(w * planted(x, "steps", no_gradient("steps")));
  CHECK(list(grad({y}, {w}, {.retain_graph = true})[0]) == std::vector<double>{1, 4});
  CHECK_THROWS_WITH_AS(
      y.backward(),
      "backward of 'steps': this op has no gradient; detach() its input if that is meant", Error);
  CHECK_FALSE(w.grad().defined());  // nothing half done
}

TEST_CASE("an undefined gradient stands for zero and ends its path") {
  const Tensor x = leaf({1.0, 2.0}), w = leaf({3.0, 4.0});
  const Tensor y = planted(exp(x), "stop", [](const auto&) -> Grads { return {Tensor()}; });
  sum(y * w).backward();
  CHECK_FALSE(x.grad().defined());
  CHECK(w.grad().defined());
}

TEST_CASE("gradients of leaves are their own: overwriting one changes nothing else") {
  const Tensor a = leaf({1.0, 2.0}), b = leaf({3.0, 4.0});
  const Tensor start = tensor({1, 1}, DType::f64);
  (a + b).backward(start);  // the vjp of add returns the upstream gradient itself, twice
  assign(a.grad(), tensor({7, 7}, DType::f64));
  CHECK(list(b.grad()) == std::vector<double>{1, 1});
  CHECK(list(start) == std::vector<double>{1, 1});

  const Tensor c = leaf({1.0, 2.0});
  c.backward(start);
  assign(c.grad(), tensor({9, 9}, DType::f64));
  CHECK(list(start) == std::vector<double>{1, 1});

  for (const double factor : {1.0, 2.0}) {  // comes back as one number, expanded
    const Tensor d = leaf({1.0, 2.0});
    (factor == 1 ? sum(d) : sum(d) * factor).backward();
    CHECK(list(d.grad()) == std::vector<double>{factor, factor});
    assign(d.grad(), tensor({5, 6}, DType::f64));
    CHECK(list(d.grad()) == std::vector<double>{5, 6});
  }
}

TEST_CASE("NoGrad: no history inside, as before outside; detach cuts") {
  const Tensor x = leaf({2.0});
  {
    const NoGrad no_grad;
    CHECK_FALSE((x * x).requires_grad());
    CHECK(x.requires_grad());
  }
  CHECK((x * x).requires_grad());
  const Tensor y = x * (x * x).detach();
  y.backward();
  CHECK(x.grad().item() == 4);
  CHECK_FALSE(x.detach().requires_grad());
}

TEST_CASE("backward works inside NoGrad on a graph recorded before") {
  const Tensor x = leaf({2.0});
  const Tensor y = x * x;
  const NoGrad no_grad;
  y.backward();
  CHECK(x.grad().item() == 4);
  CHECK_FALSE(modes().grad_enabled);
}

TEST_CASE("modes belong to one thread, graphs to any") {
  const Tensor x = leaf({2.0});
  const NoGrad no_grad;
  Tensor y;
  std::thread([&] {
    CHECK(modes().grad_enabled);
    y = x * x;
    y.backward();
  }).join();
  CHECK(y.requires_grad());
  CHECK(x.grad().item() == 4);
  CHECK_FALSE((x * x).requires_grad());
}

TEST_CASE("graph_nodes: each node once, inputs before their users") {
  const Tensor x = leaf({2.0});
  const Tensor a = x * x;
  const Tensor b = exp(a) + a;
  const auto nodes = graph_nodes({b, a});
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0] == x.node());
  CHECK(nodes[1] == a.node());
  CHECK(std::string(nodes[2]->op.name) == "exp");
  CHECK(nodes[3] == b.node());
  CHECK(graph_nodes({x.detach()}).empty());
}

TEST_CASE("the gradient of an inner branch is not computed when no leaf is below it") {
  const Tensor x = leaf({2.0});
  int calls = 0;
  const Tensor constant = tensor({3.0}, DType::f64);
  const Tensor y = record(x.detach() * constant, "product", {x, constant}, {},
                          [&calls](const BackwardContext& c) -> Grads {
                            ++calls;
                            CHECK(c.needs(0));
                            CHECK_FALSE(c.needs(1));
                            return {c.grad * 3.0, Tensor()};
                          });
  y.backward();
  CHECK(calls == 1);
  CHECK(x.grad().item() == 3);
}
