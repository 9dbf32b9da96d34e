// Optimizers beside PyTorch's: 20 steps along the same gradients, compared after each. What is in
// the files: tests/reference/record_optim.py.
#include "tests/reference/reference.h"

#include <doctest/doctest.h>

#include "optim/adagrad.h"
#include "optim/adam.h"
#include "optim/rmsprop.h"
#include "optim/schedule.h"
#include "optim/sgd.h"

using namespace gradzoo;

namespace {

constexpr std::int64_t kSteps = 20, kFirst = 6;

// Both parameters in a row, as recorded, and back.
Tensor joined(const std::vector<Tensor>& parts) {
  return concat({reshape(parts[0].detach(), {-1}), parts[1].detach()}, 0);
}
std::vector<Tensor> split(const Tensor& row) {
  return {clone(reshape(slice(row, 0, 0, kFirst), {2, 3})),
          clone(slice(row, 0, kFirst, row.numel()))};
}

// make(p, q) gives the optimizer, factor(step) what its lr is multiplied by.
template <class Make, class Factor>
void compare(const std::string& name, const Make& make, const Factor& factor) {
  const TensorFile file = test::recorded("optimizers");
  for (const DType dtype : {DType::f64, DType::f32}) {
    std::vector<Tensor> parameters = split(test::recorded(file, "start", dtype));
    for (Tensor& parameter : parameters) parameter.requires_grad_();
    const Tensor gradients = test::recorded(file, "gradients", dtype);
    auto optimizer = make(parameters[0], parameters[1]);
    std::vector<Tensor> walked;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::vector<Tensor> gradient = split(select(gradients, 0, step));
      parameters[0].set_grad(gradient[0]);
      if (step >= 2) parameters[1].set_grad(gradient[1]);
      optimizer.step(factor(step + 1));
      walked.push_back(joined(parameters));
    }
    test::check_recorded(name, stack(walked, 0), test::recorded(file, name, dtype));
  }
}

template <class Optimizer>
void compare(const std::string& name, const typename Optimizer::Options& options) {
  compare(
      name,
      [&](const Tensor& p, const Tensor& q) {
        return Optimizer({p, q}, options);
      },
      [](std::int64_t) { return 1.0; });
}

optim::Adam two_groups(const Tensor& p, const Tensor& q) {
  const optim::AdamOptions decays = {.lr = 0.05, .weight_decay = 0.1, .decoupled = true};
  const optim::AdamOptions does_not = {.lr = 0.02, .decoupled = true};
  return optim::Adam({{{p}, decays}, {{q}, does_not}});
}

}  // namespace

TEST_CASE("PyTorch: SGD, with decay, momentum, dampening, Nesterov") {
  using optim::Sgd;
  compare<Sgd>("sgd", {.lr = 0.1});
  compare<Sgd>("sgd_decay", {.lr = 0.1, .weight_decay = 0.01});
  compare<Sgd>("sgd_momentum", {.lr = 0.1, .momentum = 0.9});
  compare<Sgd>("sgd_dampening",
               {.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.02});
  compare<Sgd>("sgd_nesterov",
               {.lr = 0.1, .momentum = 0.8, .weight_decay = 0.02, .nesterov = true});
}

TEST_CASE("PyTorch: Adam, Adam with L2, AdamW") {
  using optim::Adam;
  compare<Adam>("adam", {.lr = 0.05});
  compare<Adam>("adam_decay", {.lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1});
  compare<Adam>("adamw", {.lr = 0.05, .eps = 1e-6, .weight_decay = 0.1, .decoupled = true});
}

TEST_CASE("PyTorch: RMSprop, with decay, momentum, centered") {
  using optim::RmsProp;
  compare<RmsProp>("rmsprop", {});
  compare<RmsProp>("rmsprop_decay", {.lr = 0.02, .alpha = 0.9, .eps = 1e-3, .weight_decay = 0.1});
  compare<RmsProp>("rmsprop_momentum", {.lr = 0.01, .alpha = 0.95, .momentum = 0.9});
  compare<RmsProp>("rmsprop_centered", {.lr = 0.01, .alpha = 0.95, .centered = true});
  compare<RmsProp>(
      "rmsprop_all",
      {.lr = 0.01, .alpha = 0.8, .momentum = 0.5, .weight_decay = 0.05, .centered = true});
}

TEST_CASE("PyTorch: Adagrad, with all its options") {
  using optim::Adagrad;
  compare<Adagrad>("adagrad", {.lr = 0.1});
  compare<Adagrad>(
      "adagrad_all",
      {.lr = 0.1, .lr_decay = 0.1, .initial_accumulator = 0.5, .eps = 1e-6, .weight_decay = 0.05});
}

TEST_CASE("PyTorch: groups, and a schedule over them") {
  compare("groups", two_groups, [](std::int64_t) { return 1.0; });
  compare("groups_noam", two_groups, [](std::int64_t step) { return optim::noam(step, 8, 5); });
}
