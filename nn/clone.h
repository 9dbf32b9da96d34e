// Independent copies of modules.
#pragma once

#include <unordered_map>

#include "core/ops/view.h"
#include "nn/module.h"

namespace gradzoo::nn {

namespace detail {

// The module with every tensor replaced by copy(tensor); tied ones stay tied, parameters stay
// parameters.
template <class Module, class Copy>
Module map_tensors(Module module, const Copy& copy) {
  std::unordered_map<const TensorImpl*, Tensor> made;
  for_each_tensor(module, [&](const std::string&, Tensor& tensor) {
    Tensor& twin = made[tensor.impl_ptr().get()];
    if (!twin.defined()) {
      twin = copy(tensor.detach());
      if (tensor.requires_grad()) twin.requires_grad_();
    }
    tensor = twin;
  });
  return module;
}

}  // namespace detail

/// An independent copy; tied tensors stay tied to each other.
template <class Module>
Module clone(const Module& module) {
  return detail::map_tensors(module, [](const Tensor& t) { return gradzoo::clone(t); });
}

/// An independent copy with floating-point tensors of another dtype.
template <class Module>
Module to(const Module& module, DType dtype) {
  return detail::map_tensors(module, [dtype](const Tensor& t) {
    return is_floating(t.dtype()) && t.dtype() != dtype ? gradzoo::to(t, dtype) : gradzoo::clone(t);
  });
}

}  // namespace gradzoo::nn
