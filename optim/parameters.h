// What optimizers, clipping and averages are given: parameters, with names or without.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace gradzoo::optim {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// nn::named_parameters(model), nn::parameters(model) or a list {w, b}. The names are those of
/// checkpoints and error messages; parameters without names are numbered.
class Parameters {
 public:
  Parameters(NamedTensors named) : named_(std::move(named)) {}  // NOLINT: is a list
  Parameters(const std::vector<Tensor>& tensors);               // NOLINT: is a list
  Parameters(std::initializer_list<Tensor> tensors) : Parameters(std::vector<Tensor>(tensors)) {}

  /// Names are empty where there were none.
  const NamedTensors& named() const { return named_; }

 private:
  NamedTensors named_;
};

/// A parameter, its name, and the number of the group it was given in.
struct Parameter {
  std::string name;
  Tensor tensor;
  std::size_t group = 0;
};

/// The parameters of all groups, each once: a tied weight is updated, counted and saved once, under
/// the first of its names. Throws, naming `user` and parameter, for a tensor that is not a
/// contiguous leaf that requires a gradient, for one in two groups, and for two of the same name.
std::vector<Parameter> unique_parameters(const char* user, const std::vector<Parameters>& groups);

}  // namespace gradzoo::optim
