// DetectAnomaly: the first value that is not finite is an error that says where it came from.
#include "core/anomaly.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

namespace {

Tensor leaf(const Nested& values) { return Tensor(tensor(values, DType::f64)).requires_grad_(); }

}  // namespace

TEST_CASE("an anomaly in the forward pass names op, place and the range of the inputs") {
  const Tensor x = tensor({{1, 2, 3}, {4, 1000, 5}});
  CHECK(std::isinf(exp(x).at({1, 1})));  // no one asked
  const DetectAnomaly anomaly;
  CHECK_THROWS_WITH_AS(exp(x),
                       "anomaly: 'exp' made a value that is not finite at [1, 1] of its output "
                       "[2, 3]; inputs: f32 [2, 3] in [1, 1000] with 0 not finite",
                       Error);
  const Tensor bad = tensor({std::nan(""), -2.0, HUGE_VAL}, DType::f64);
  CHECK_THROWS_WITH_AS(bad + scalar(1, DType::f64),
                       "anomaly: 'add' made a value that is not finite at [0] of its output [3]; "
                       "inputs: f64 [3] in [-2, -2] with 2 not finite; f64 [] in [1, 1] with 0 not "
                       "finite",
                       Error);
  CHECK_THROWS_WITH_AS(neg(tensor({HUGE_VAL})),
                       "anomaly: 'neg' made a value that is not finite at [0] of its output [1]; "
                       "inputs: f32 [1] of which none is finite",
                       Error);
}

TEST_CASE("an anomaly in the backward pass names the op, the place and the input") {
  const Tensor x = leaf({4.0, 0.0});
  const DetectAnomaly anomaly;
  const Tensor y = sum(sqrt(x));
  CHECK_THROWS_WITH_AS(y.backward(),
                       "anomaly: backward of 'sqrt' made a value that is not finite at [1] of the "
                       "gradient of input 0; gradient of the output: f64 [2] in [1, 1] with 0 not "
                       "finite",
                       Error);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("what a vjp computes on its way is its own affair") {
  const Tensor x = leaf({4.0, 0.0});
  const DetectAnomaly anomaly;
  const Tensor y =
      record(x.detach() * 2.0, "careful", {x}, {x}, [](const BackwardContext& c) -> Grads {
        const Tensor infinite = exp(c.saved(0) * 1000.0);
        return {where(lt(infinite, 2.0), infinite, c.grad)};
      });
  sum(y).backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 1});
}

TEST_CASE("integers, booleans, empty and finite tensors pass; the mode ends with its scope") {
  {
    const DetectAnomaly anomaly;
    CHECK((tensor({1, 2}, DType::i64) + tensor({1, 2}, DType::i64)).numel() == 2);
    CHECK(exp(empty({0, 3})).numel() == 0);
    CHECK(exp(leaf({1.0})).item() == doctest::Approx(std::exp(1.0)));
    CHECK(lt(tensor({1, 2}), 2.0).numel() == 2);
  }
  CHECK_FALSE(modes().detect_anomaly);
  CHECK(std::isinf(exp(tensor({1000.0})).item()));
}
