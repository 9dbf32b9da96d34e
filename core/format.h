// Tensors as text.
#pragma once

#include <iosfwd>
#include <string>

#include "core/tensor.h"

namespace gradzoo {

/// The values in nested brackets, rows aligned, then shape and dtype; long axes are shortened in
/// the middle. "undefined" for an undefined tensor.
std::string to_string(const Tensor& tensor);

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace gradzoo
