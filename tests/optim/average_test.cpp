// Averages of weights: the formula, PyTorch's, and that the weights always come back.
#include "optim/average.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/reference/reference.h"

using namespace gradzoo;
using optim::AveragedWeights;
using optim::Ema;

namespace {

Tensor leaf(const Nested& values) { return tensor(values, DType::f64).requires_grad_(); }

}  // namespace

TEST_CASE("Ema starts from the weights and follows them slowly") {
  const Tensor w = leaf({1, 2});
  Ema ema(optim::NamedTensors{{"w", w}}, 0.75);
  CHECK(ema.state()[0].second.at({1}) == 2);
  assign(w, tensor({5, 2}, DType::f64));
  ema.update();
  CHECK(ema.state()[0].first == "w");
  CHECK(ema.state()[0].second.at({0}) == 2);
  CHECK(ema.state()[0].second.at({1}) == 2);
  CHECK(w.at({0}) == 5);
}

TEST_CASE("PyTorch: AveragedModel over 20 steps") {
  const TensorFile file = test::recorded("averages");
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Tensor weights = test::recorded(file, "weights", dtype);
    Tensor w = clone(select(weights, 0, 0));
    w.requires_grad_();
    Ema ema({w}, 0.9);
    std::vector<Tensor> averages = {clone(ema.state()[0].second)};
    for (std::int64_t step = 1; step < weights.size(0); ++step) {
      assign(w, select(weights, 0, step));
      ema.update();
      averages.push_back(clone(ema.state()[0].second));
    }
    test::check_recorded("averages", stack(averages, 0), test::recorded(file, "averages", dtype));
  }
}

TEST_CASE(
    "AveragedWeights: averages inside, the same bits as before outside, exceptions included") {
  const Tensor w = leaf({0.1, 0.2}), b = leaf({0.3});
  Ema ema({w, b, w}, 0.5);
  CHECK(ema.state().size() == 2);  // TYE3
  assign(w, tensor({0.7, 1.1}, DType::f64));
  ema.update();
  const std::vector<double> before = w.to_vector<double>();
  {
    const AveragedWeights averaged(ema);
    CHECK(w.at({0}) == doctest::Approx(0.4));
    CHECK(w.at({1}) == doctest::Approx(0.65));
    CHECK_THROWS_WITH_AS(ema.update(), "Ema: update while AveragedWeights lives", Error);
    CHECK_THROWS_WITH_AS(AveragedWeights{ema}, "AveragedWeights: the averages are already in use",
                         Error);
    CHECK(ema.state()[0].second.at({0}) == doctest::Approx(0.4));
  }
  CHECK(w.to_vector<double>() == before);
  const auto evaluate = [&] {
    const AveragedWeights averaged(ema);
    throw std::runtime_error("stopped");
  };
  CHECK_THROWS_AS(evaluate(), std::runtime_error);
  CHECK(w.to_vector<double>() == before);
  CHECK(b.item() == 0.3);
  ema.update();
  CHECK(ema.state()[0].second.at({0}) == doctest::Approx(0.55));
}

TEST_CASE("a graph made with the averages cannot be walked back with the weights") {
  const Tensor w = leaf({3});
  Ema ema({w});
  Tensor loss;
  {
    const AveragedWeights averaged(ema);
    loss = sum(square(w));
  }
  CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains("'square'"), Error);
}

TEST_CASE("Ema: bad arguments are refused") {
  CHECK_THROWS_AS(Ema({leaf({1})}, 1), Error);
  CHECK_THROWS_AS(Ema({leaf({1})}, -0.1), Error);
  CHECK_THROWS_AS(Ema({tensor({1})}), Error);
}
