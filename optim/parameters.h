// What optimizers do with their list of parameters.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace gradzoo::optim {

/// The list without repeats (a tied weight moves once a step). Throws for a tensor that is not a
/// leaf that requires a gradient.
std::vector<Tensor> checked_parameters(const char* optimizer, const std::vector<Tensor>& given);

/// Forgets the gradients.
void zero_grad(const std::vector<Tensor>& parameters);

}  // namespace gradzoo::optim
