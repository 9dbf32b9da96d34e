// How the tests compare a layer with PyTorch's: its weights by its names, output, every gradient.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "nn/clone.h"
#include "nn/module.h"
#include "tests/reference/reference.h"

namespace gradzoo::test {

using Inputs = std::vector<Tensor>;

/// CHECKs outputs and every gradient of the module against tests/data/NAME.safetensors, in f64 and
/// f32. f(module, inputs, get) is the output for the recorded inputs; get(key) is any other tensor
/// of the file.
template <class Module, class F>
void compare(const std::string& name, const Module& made, const F& f) {
  const TensorFile file = recorded(name);
  for (const DType dtype : {DType::f64, DType::f32}) {
    CAPTURE(name);
    CAPTURE(std::string(name_of(dtype)));
    const Module module = nn::to(made, dtype);
    const auto get = [&](const std::string& key) { return recorded(file, key, dtype); };
    std::size_t recorded_weights = 0;
    for (const auto& [key, tensor] : file.tensors)
      recorded_weights += key.rfind("weights.", 0) == 0;
    CHECK(recorded_weights == nn::named_tensors(module).size());
    for (const auto& [key, tensor] : nn::named_tensors(module))
      assign(tensor, get("weights." + key));
    Inputs inputs;
    while (file.find("inputs." + std::to_string(inputs.size())).defined()) {
      inputs.push_back(get("inputs." + std::to_string(inputs.size())));
      if (is_floating(inputs.back().dtype())) inputs.back().requires_grad_();
    }
    const Tensor output = f(module, inputs, get);
    check_recorded("output", output, get("output"));
    output.backward(get("upstream"));
    for (const auto& [key, tensor] : nn::named_parameters(module)) {
      check_recorded(key, tensor.grad(), get("grads.weights." + key));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      const std::string key = "inputs." + std::to_string(i);
      check_recorded(key, inputs[i].grad(), get("grads." + key));
    }
  }
}

}  // namespace gradzoo::test
