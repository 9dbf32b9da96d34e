// What DetectAnomaly does at each op: refuse the first NaN or infinity.
#pragma once

#include <span>

#include "core/tensor.h"

namespace gradzoo {

/// Throws Error when `out` has an element that is not finite, naming the op, the element and the
/// range of each input.
void check_forward(const Tensor& out, const char* op, std::span<const Tensor> inputs);

/// The same for the gradients that an op's backward returned; undefined ones are passed over.
void check_backward(std::span<const Tensor> grads, const char* op, const Tensor& grad_output);

}  // namespace gradzoo
