// Central differences beside gradients: of leaves, of what is computed on the way, and at kinks.
#include "examples/common/walk/differences.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "examples/common/walk/lesson.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return tensor(values, dtype).requires_grad_();
}

Walk walk_of(const Names& names, const std::function<Tensor()>& function) {
  Lesson lesson("", 1);
  lesson.walk("f", names, function);
  return lesson.result();
}

std::vector<std::int64_t> elements(const WalkNode& node) {
  std::vector<std::int64_t> found;
  for (const Difference& d : node.differences) found.push_back(d.element);
  return found;
}

std::string message_of(const std::function<Tensor()>& function) {
  try {
    walk_of({}, function);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("differences: every element of leaves and of values on the way, with the numbers") {
  const Tensor x = leaf({1, 2}), w = leaf({{3, -1}, {0.5, 4}});
  const Walk walk = walk_of({{"x", x}, {"w", w}}, [&] { return sum(exp(transpose(w)) * x); });
  std::size_t with_gradient = 0;
  for (const WalkNode& node : walk.nodes) {
    CAPTURE(node.op.name);
    REQUIRE(node.gradient.defined());
    ++with_gradient;
    REQUIRE(node.differences.size() == static_cast<std::size_t>(node.value.numel()));
    const std::vector<double> gradient = node.gradient.to_vector<double>();
    for (const Difference& d : node.differences) {
      CHECK(d.analytic == gradient[static_cast<std::size_t>(d.element)]);
      CHECK(d.numeric == doctest::Approx(d.analytic).epsilon(1e-6));
      CHECK(d.relative < 1e-6);
      CHECK(d.right);
    }
  }
  CHECK(with_gradient == 6);
  // The leaves are as they were, to the bit.
  CHECK(x.to_vector<double>() == std::vector<double>{1, 2});
  CHECK(w.to_vector<double>() == std::vector<double>{3, -1, 0.5, 4});
}

TEST_CASE("differences: of many elements six, the steepest among them") {
  Tensor x = (zeros({100}, DType::f64) + 1).requires_grad_();
  const Tensor weights = tensor({0}, DType::f64) + arange(0, 100, 1, DType::f64);
  const Walk walk = walk_of({}, [&] {
    const Tensor steep = concat({slice(x, 0, 0, 37), 1000 * slice(x, 0, 37, 38), slice(x, 0, 38)});
    return sum(steep * weights);
  });
  CHECK(elements(walk.nodes[0]) == std::vector<std::int64_t>{0, 24, 37, 49, 74, 99});
}

TEST_CASE("differences: at a kink the difference is shown as it is") {
  const Tensor x = leaf({-1, 0, 2});
  const Walk walk = walk_of({{"x", x}}, [&] { return sum(relu(x)); });
  const std::vector<Difference>& differences = walk.nodes[0].differences;
  REQUIRE(differences.size() == 3);
  CHECK(differences[0].right);
  CHECK_FALSE(differences[1].right);
  CHECK(differences[1].analytic == 0);
  CHECK(differences[1].numeric == doctest::Approx(0.5));
  CHECK(differences[1].relative == doctest::Approx(1));
  CHECK(differences[2].right);
}

TEST_CASE("differences: of a result that is not finite none is right, and equal ones are 0") {
  const Tensor x = leaf({-1, 2});
  const Walk nan = walk_of({{"x", x}}, [&] { return sum(log(x)); });
  REQUIRE(nan.nodes[0].differences.size() == 2);
  for (const WalkNode& node : nan.nodes) {
    if (node.op.name == std::string("sum")) continue;
    for (const Difference& d : node.differences) {
      CHECK(std::isnan(d.numeric));
      CHECK_FALSE(d.right);
    }
  }
  const Tensor far = leaf({1, 2});
  const Walk infinite = walk_of({{"x", far}}, [&] { return sum(far * HUGE_VAL); });
  CHECK(infinite.nodes[0].differences[0].numeric == 0);
  CHECK_FALSE(infinite.nodes[0].differences[0].right);
}

TEST_CASE("differences: a wrong gradient is found, on the way and at the leaf") {
  const Tensor x = leaf({1, 2});
  const Walk walk = walk_of({{"x", x}}, [&] {
    const Tensor y = exp(x);
    const Tensor z = 2 * y.detach();
    return sum(record(z, "wrong", {y}, {}, [](const BackwardContext& c) -> Grads {
      return {c.grad};  // half of what it is
    }));
  });
  for (const WalkNode& node : walk.nodes) {
    const bool before = node.kind == WalkNode::Kind::leaf || node.op.name == std::string("exp");
    CAPTURE(node.op.name);
    for (const Difference& d : node.differences) {
      CHECK(d.right == !before);
      if (before) CHECK(d.relative == doctest::Approx(0.5));
    }
  }
  CHECK(walk.nodes[0].differences.size() == 2);
}

TEST_CASE("differences: f32 has a larger step and says so little that it is right") {
  const Tensor x = leaf({0.5, -1.25, 2}, DType::f32);
  const Walk walk = walk_of({{"x", x}}, [&] { return sum(tanh(x) * x * x); });
  for (const WalkNode& node : walk.nodes) {
    REQUIRE(node.differences.size() == static_cast<std::size_t>(node.value.numel()));
    for (const Difference& d : node.differences) {
      CHECK(d.right);
      CHECK(d.relative < 1e-2);
    }
  }
  CHECK(x.to_vector<float>() == std::vector<float>{0.5, -1.25, 2});
  CHECK(tolerance_for(DType::f64, 5).eps == 1e-6);
  CHECK(tolerance_for(DType::f64, 5).atol == 1e-7);
  CHECK(tolerance_for(DType::f64, 5).rtol == 1e-5);
}

TEST_CASE("differences: leaves that do not lie in a row, and one that the function makes") {
  Tensor x = transpose(tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64)).requires_grad_();
  REQUIRE_FALSE(x.is_contiguous());
  const Tensor weights = tensor({{1, 2}, {3, 4}, {5, 6}}, DType::f64);
  std::vector<Tensor> kept;  // alive, but used by one run only
  const Walk walk = walk_of({{"x", x}}, [&] {
    const Tensor own = kept.emplace_back(leaf({1, 2}));
    return sum(x * weights * own);
  });
  const WalkNode& node = walk.nodes[0];
  REQUIRE(node.differences.size() == 6);
  for (const Difference& d : node.differences) CHECK(d.right);
  CHECK(node.differences[1].numeric == doctest::Approx(4));
  std::size_t made_inside = 0;
  for (const WalkNode& each : walk.nodes) {
    if (each.kind != WalkNode::Kind::leaf || !each.name.empty()) continue;
    ++made_inside;
    CHECK(each.gradient.defined());
    CHECK(each.differences.empty());
  }
  CHECK(made_inside == 1);
}

TEST_CASE("differences: a function that is not the same each time is refused") {
  const Tensor x = leaf({1, 2});
  Rng rng(1);
  const std::string random = message_of([&] { return sum(x * randn({2}, rng, DType::f64)); });
  CHECK(random.find("must give the same each time") != std::string::npos);
  CHECK(random.find("inside it") != std::string::npos);
  int runs = 0;
  const std::string steps = message_of([&] { return ++runs > 1 ? sum(x) : sum(abs(x)); });
  CHECK(steps.find("abs") != std::string::npos);
  CHECK(steps.find("ran again") != std::string::npos);
  // One that makes its generator inside is fine.
  CHECK(message_of([&] {
          Rng own(7);
          const TrainingScope training(own);
          return sum(dropout(x, 0.5));
        }) == "no error");
}

TEST_CASE("differences: when the function throws, the leaf is as it was") {
  const Tensor x = leaf({0.25, 2});
  int runs = 0;
  const std::string message = message_of([&] {
    if (++runs > 3) fail("enough");
    return sum(x);
  });
  CHECK(message == "enough");
  CHECK(x.to_vector<double>() == std::vector<double>{0.25, 2});
}
