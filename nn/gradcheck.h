// Finite differences of a layer: with respect to all its inputs and all its parameters.
#pragma once

#include <vector>

#include "core/gradcheck.h"
#include "nn/module.h"

namespace gradzoo::nn {

/// gradcheck of f(inputs), which calls `module`, for the inputs and every parameter. Everything
/// must be f64: see to(module, DType::f64). GradcheckResult::input counts inputs, then parameters.
template <class Module>
GradcheckResult gradcheck(const Module& module, const CheckedFunction& f,
                          std::vector<Tensor> inputs, const GradcheckOptions& options = {}) {
  for (const Tensor& parameter : parameters(module)) inputs.push_back(parameter);
  return gradzoo::gradcheck(f, inputs, options);
}

/// The same for second derivatives.
template <class Module>
GradcheckResult gradgradcheck(const Module& module, const CheckedFunction& f,
                              std::vector<Tensor> inputs, const GradcheckOptions& options = {}) {
  for (const Tensor& parameter : parameters(module)) inputs.push_back(parameter);
  return gradzoo::gradgradcheck(f, inputs, options);
}

}  // namespace gradzoo::nn
