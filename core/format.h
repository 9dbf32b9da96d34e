// Tensors as text.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/tensor.h"

namespace gradzoo {

/// The values in nested brackets, columns aligned, then dtype and shape:
///
///     [[ 1.0000, -0.5000],
///      [ 2.2500,     nan]] f32 [2, 2]
///
/// Of more than 1000 elements only the first and last three of each axis are shown. "undefined"
/// for an undefined tensor.
std::string to_string(const Tensor& tensor);

/// One line: every value of a tensor of at most `most` elements ("[[1, 2], [3, 4]]"), of a larger
/// one "min -2.5 mean 0.1 max 3" over its finite values and how many are not finite.
std::string summary(const Tensor& tensor, std::int64_t most = 12);

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace gradzoo

template <>
struct fmt::formatter<gradzoo::Tensor> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const gradzoo::Tensor& tensor, Context& context) const {
    const std::string text = gradzoo::to_string(tensor);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
