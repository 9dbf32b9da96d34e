// Module functions that need no template.
#include "nn/module.h"

#include <unordered_set>

namespace gradzoo::nn {

NamedTensors unique_parameters(const NamedTensors& all) {
  NamedTensors unique;
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& [name, tensor] : all) {
    if (tensor.requires_grad() && seen.insert(tensor.impl_ptr().get()).second) {
      unique.emplace_back(name, tensor);
    }
  }
  return unique;
}

Tensor parameter(const Tensor& tensor) {
  Tensor leaf = tensor.detach();
  leaf.requires_grad_();
  return leaf;
}

}  // namespace gradzoo::nn
