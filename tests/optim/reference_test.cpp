// Optimizers beside PyTorch's: 20 steps along the same gradients, compared after each.
#include "tests/reference/reference.h"

#include <doctest/doctest.h>

#include "optim/adam.h"
#include "optim/sgd.h"

using namespace gradzoo;

namespace {

template <class Optimizer, class Options>
void compare(const std::string& name, const Options& options) {
  const TensorFile file = test::recorded("optimizers");
  for (const DType dtype : {DType::f64, DType::f32}) {
    std::vector<Tensor> parameters;
    for (int i = 0; i < 2; ++i) {
      parameters.push_back(test::recorded(file, fmt::format("start.{}", i), dtype));
      parameters.back().requires_grad_();
    }
    Optimizer optimizer(parameters, options);
    for (int step = 0; step < 20; ++step) {
      for (int i = 0; i < 2; ++i) {
        Tensor& parameter = parameters[static_cast<std::size_t>(i)];
        parameter.set_grad(test::recorded(file, fmt::format("gradients.{}.{}", i, step), dtype));
      }
      optimizer.step();
      for (int i = 0; i < 2; ++i) {
        const std::string key = fmt::format("{}.{}.{}", name, i, step);
        test::check_recorded(key, parameters[static_cast<std::size_t>(i)],
                             test::recorded(file, key, dtype));
      }
    }
  }
}

}  // namespace

TEST_CASE("PyTorch: SGD, plain with decay, with momentum, with Nesterov") {
  compare<optim::Sgd>("sgd", optim::SgdOptions{.lr = 0.1, .weight_decay = 0.01});
  compare<optim::Sgd>("sgd_momentum", optim::SgdOptions{.lr = 0.1, .momentum = 0.9});
  compare<optim::Sgd>(
      "sgd_nesterov",
      optim::SgdOptions{.lr = 0.1, .momentum = 0.8, .weight_decay = 0.02, .nesterov = true});
}

TEST_CASE("PyTorch: Adam with L2, AdamW") {
  compare<optim::Adam>(
      "adam", optim::AdamOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1});
  compare<optim::Adam>(
      "adamw", optim::AdamOptions{.lr = 0.05, .eps = 1e-6, .weight_decay = 0.1, .decoupled = true});
}
