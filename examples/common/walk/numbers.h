// The numbers of a tensor of any dtype, without a trace seeing that they are read.
#pragma once

#include <vector>

#include "core/ops/view.h"
#include "core/scope.h"
#include "core/tensor.h"

namespace gradzoo::examples {

/// While it lives, nothing is recorded: no history, no steps, no look-out for NaN.
class Unseen : ModeGuard {
 public:
  Unseen() {
    modes().grad_enabled = false;
    modes().detect_anomaly = false;
    modes().trace = nullptr;
  }
};

/// All elements in row-major order.
inline std::vector<double> numbers_of(const Tensor& x) {
  const Unseen unseen;
  return to(x, DType::f64).to_vector<double>();
}

/// A copy in memory of its own, undefined of an undefined tensor.
inline Tensor copy_of(const Tensor& x) {
  const Unseen unseen;
  return x.defined() ? clone(x.detach()) : Tensor();
}

}  // namespace gradzoo::examples
