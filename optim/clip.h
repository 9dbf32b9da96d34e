// Keeping gradients from exploding. Parameters without a gradient are passed over, and a tied one
// counts once. Names, where given, are those of the error messages.
#pragma once

#include "optim/parameters.h"

namespace gradzoo::optim {

/// The 2-norm of all gradients together, as if they were one vector; computed in double, so that
/// large gradients do not overflow.
double grad_norm(const Parameters& parameters);

/// Scales all gradients by max_norm / norm when their common 2-norm is above max_norm, and returns
/// the norm they had (Pascanu et al. 2013). Throws, changing nothing, when the norm is not finite
/// (naming the first parameter at fault) and unless max_norm > 0.
double clip_grad_norm(const Parameters& parameters, double max_norm);

/// Clamps each number of each gradient to [-max_value, max_value]. Throws, changing nothing, for a
/// NaN (naming the parameter) and unless max_value > 0.
void clip_grad_value(const Parameters& parameters, double max_value);

}  // namespace gradzoo::optim
