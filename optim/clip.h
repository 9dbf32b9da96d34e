// Keeping gradients from exploding.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace gradzoo::optim {

/// The 2-norm of all gradients together, as if they were one vector; computed in double, so that
/// large gradients do not overflow.
double grad_norm(const std::vector<Tensor>& parameters);

/// Scales all gradients by max_norm / norm when their common 2-norm is above max_norm, and returns
/// the norm they had (Pascanu et al. 2013). Throws, changing nothing, when the norm is not finite
/// (naming the first parameter at fault) and unless max_norm > 0.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace gradzoo::optim
