// ONNX's training operators Adagrad and Momentum through our optimizers.
#include <doctest/doctest.h>

#include "core/serialize.h"
#include "optim/adagrad.h"
#include "optim/sgd.h"
#include "tests/core/onnx_runner.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// Inputs: lr, the number of steps before, and then all parameters, all gradients, all states.
// Outputs: all new parameters, all new states. `kept` is our name of the state.
template <class Optimizer>
Tensors stepped(const OnnxCase& c, const typename Optimizer::Options& options,
                const std::string& kept) {
  const std::size_t count = (c.inputs.size() - 2) / 3;
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < count; ++i) {
    Tensor parameter = clone(c.in(2 + i));
    parameter.requires_grad_().set_grad(c.in(2 + count + i));
    parameters.push_back(parameter);
  }
  Optimizer optimizer(parameters, options);
  const optim::NamedTensors state = optimizer.state();
  const auto state_of = [&](std::size_t i, const std::string& name) {
    return TensorFile{state, {}}.find(std::to_string(i) + "." + name);
  };
  Tensors outputs;
  for (std::size_t i = 0; i < count; ++i) {
    assign(state_of(i, "steps"), c.in(1));
    assign(state_of(i, kept), c.in(2 + 2 * count + i));
  }
  optimizer.step();
  for (const Tensor& parameter : parameters) outputs.push_back(parameter.detach());
  for (std::size_t i = 0; i < count; ++i) outputs.push_back(state_of(i, kept));
  return outputs;
}

Tensors adagrad(const OnnxCase& c) {
  return stepped<optim::Adagrad>(c,
                                 {.lr = c.in(0).item(),
                                  .lr_decay = c.number("decay_factor", 0),
                                  .eps = c.number("epsilon", 1e-6),
                                  .weight_decay = c.number("norm_coefficient", 0)},
                                 "sum");
}

Tensors momentum(const OnnxCase& c) {
  return stepped<optim::Sgd>(c,
                             {.lr = c.in(0).item(),
                              .momentum = c.number("alpha", 0),
                              .dampening = 1 - c.number("beta", 1),
                              .weight_decay = c.number("norm_coefficient", 0),
                              .nesterov = c.text("mode", "standard") == "nesterov"},
                             "velocity");
}

}  // namespace

TEST_CASE("ONNX: Adagrad, Momentum") {
  OnnxFamily family;
  family.ops["Adagrad"] = adagrad;
  family.ops["Momentum"] = momentum;
  const OnnxCounts counts = run_onnx_family("optimizers", family);
  if (!onnx_cases().empty()) CHECK(counts.ran == 2);
}
