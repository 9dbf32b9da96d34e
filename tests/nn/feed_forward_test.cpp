// FeedForward: each kind against its formula and by finite differences; parameters on paper.
#include "nn/feed_forward.h"

#include <doctest/doctest.h>

#include "core/node.h"
#include "core/scope.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using nn::FeedForward;
using Kind = nn::FeedForwardKind;

namespace {

constexpr Kind kKinds[] = {Kind::relu,     Kind::gelu,  Kind::gelu_tanh, Kind::glu,
                           Kind::bilinear, Kind::reglu, Kind::geglu,     Kind::swiglu};

// A layer in which W x = x, V x = v x and W2 h = h, for x [..., 1].
FeedForward one_number(Kind kind, double v) {
  Rng rng(1);
  const FeedForward layer({.d_model = 1, .d_ff = 1, .kind = kind, .bias = false}, rng);
  assign(layer.linear1.weight, ones({1, 1}));
  assign(layer.linear2.weight, ones({1, 1}));
  if (layer.linear3) assign(layer.linear3->weight, full({1, 1}, v));
  return layer;
}

}  // namespace

TEST_CASE("FeedForward: each kind is its formula") {
  const double sigmoid_2 = 0.8807970780, phi_2 = 0.9772498681;
  const struct {
    Kind kind;
    double at_2, at_minus_2;
  } expected[] = {
      {Kind::relu, 2, 0},
      {Kind::gelu, 2 * phi_2, -2 * (1 - phi_2)},
      {Kind::gelu_tanh, 1.9545976, -0.0454023},  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
      {Kind::glu, sigmoid_2 * 6, (1 - sigmoid_2) * -6},
      {Kind::bilinear, 2 * 6, -2 * -6},
      {Kind::reglu, 2 * 6, 0},
      {Kind::geglu, 2 * phi_2 * 6, -2 * (1 - phi_2) * -6},
      {Kind::swiglu, 2 * sigmoid_2 * 6, -2 * (1 - sigmoid_2) * -6},
  };
  for (const auto& e : expected) {
    CAPTURE(static_cast<int>(e.kind));
    const FeedForward layer = one_number(e.kind, 3);
    CHECK(layer(tensor({2})).item() == doctest::Approx(e.at_2));
    CHECK(layer(tensor({-2})).item() == doctest::Approx(e.at_minus_2));
  }
}

TEST_CASE("FeedForward: the number of parameters is that on paper") {
  Rng rng(2);
  const std::int64_t d = 6, f = 10;
  for (const Kind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    const bool gated = kind != Kind::relu && kind != Kind::gelu && kind != Kind::gelu_tanh;
    CHECK(nn::is_gated(kind) == gated);
    const FeedForward layer({.d_model = d, .d_ff = f, .kind = kind}, rng);
    CHECK(nn::parameter_count(layer) == (gated ? 3 * d * f + 2 * f + d : 2 * d * f + f + d));
    const FeedForward plain({.d_model = d, .d_ff = f, .kind = kind, .bias = false}, rng);
    CHECK(nn::parameter_count(plain) == (gated ? 3 * d * f : 2 * d * f));
  }
  // Two thirds of d_ff make a gated layer as large as a plain one (Shazeer 2020).
  const FeedForward paper({.d_model = 4, .d_ff = 12, .bias = false}, rng);
  const FeedForward gated({.d_model = 4, .d_ff = 8, .kind = Kind::swiglu, .bias = false}, rng);
  CHECK(nn::parameter_count(paper) == nn::parameter_count(gated));
}

TEST_CASE("gradients of FeedForward") {
  Rng rng(3);
  for (const Kind kind : kKinds) {
    for (const bool bias : {true, false}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(bias);
      const FeedForward layer = nn::to(
          FeedForward({.d_model = 3, .d_ff = 5, .kind = kind, .bias = bias}, rng), DType::f64);
      const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
      for (const Shape& shape : {Shape{3}, Shape{2, 4, 3}, Shape{0, 3}}) {
        const auto first = nn::gradcheck(layer, f, {test::input(shape, 4)});
        CHECK_MESSAGE(first.ok, first.report);
        const auto second = nn::gradgradcheck(layer, f, {test::input(shape, 5)});
        CHECK_MESSAGE(second.ok, second.report);
      }
    }
  }
}

TEST_CASE("FeedForward drops hidden values, in training alone") {
  Rng rng(6), drops(7);
  const FeedForward layer({.d_model = 4, .d_ff = 64, .dropout = 1}, rng);
  const Tensor x = randn({3, 4}, rng);
  const Tensor nothing = expand(layer.linear2.bias, {3, 4});
  CHECK(test::max_difference(layer(x), nothing) > 0.01);
  const TrainingScope training(drops);
  CHECK(test::max_difference(layer(x), nothing) == 0);
}

TEST_CASE("FeedForward names its parameters and its scope, and refuses what cannot be") {
  Rng rng(8);
  const FeedForward layer({.d_model = 2, .d_ff = 3, .kind = Kind::glu, .bias = false}, rng);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : nn::named_parameters(layer)) names.push_back(name);
  CHECK(names == std::vector<std::string>{"linear1.weight", "linear3.weight", "linear2.weight"});
  CHECK(path_of(layer(ones({2})).node()->scope) == "FeedForward");
  CHECK_THROWS_WITH_AS(FeedForward({.d_model = 2, .d_ff = 0}, rng),
                       "FeedForward: the sizes must be at least 1, got d_model 2 and d_ff 0",
                       Error);
  CHECK_THROWS_AS(FeedForward({.d_model = 2, .d_ff = 2, .dropout = 1.5}, rng), Error);
}
