// gradcheck of a module covers its parameters: a wrong gradient of one is found.
#include "nn/gradcheck.h"

#include <doctest/doctest.h>

#include "core/node.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;

namespace {

struct Scale {
  Tensor factor;
  static void fields(auto& self, auto&& visit) { visit("factor", self.factor); }
};

// x * factor whose gradient with respect to the factor is twice too large.
Tensor wrong_scale(const Tensor& x, const Tensor& factor) {
  const NoGrad no_grad;
  const Tensor y = x * factor;
  const ModeGuard guard;
  modes().grad_enabled = true;
  return record(y, "wrong_scale", {x, factor}, {x, factor}, [](const BackwardContext& c) -> Grads {
    return {c.needs(0) ? c.grad * c.saved(1) : Tensor(),
            c.needs(1) ? 2.0 * sum_to(c.grad * c.saved(0), c.shape(1)) : Tensor()};
  });
}

}  // namespace

TEST_CASE("a wrong gradient of a parameter is found, and named by its place after the inputs") {
  const Scale module{test::input({1}, 1)};
  const auto right = [&](const std::vector<Tensor>& in) { return in[0] * module.factor; };
  const auto wrong = [&](const std::vector<Tensor>& in) {
    return wrong_scale(in[0], module.factor);
  };
  CHECK(nn::gradcheck(module, right, {test::input({3}, 2)}).ok);
  const GradcheckResult found = nn::gradcheck(module, wrong, {test::input({3}, 2)});
  CHECK_FALSE(found.ok);
  CHECK(found.input == 1);
  CHECK(found.analytic == doctest::Approx(2 * found.numeric));
}
