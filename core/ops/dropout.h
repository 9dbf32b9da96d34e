// Dropout (Srivastava et al. 2014).
#pragma once

#include "core/tensor.h"

namespace gradzoo {

/// Inside a TrainingScope: each element is 0 with probability p, else scaled by 1 / (1 - p).
/// Outside, and for p = 0: x itself. Throws unless 0 <= p <= 1; p = 1 gives zeros. The numbers
/// depend on the scope's generator alone, not on threads; each call draws (numel + 1) / 2.
Tensor dropout(const Tensor& x, double p);

}  // namespace gradzoo
