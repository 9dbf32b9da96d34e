// Element types: a closed set, chosen at run time. There is no promotion between them.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gradzoo {

enum class DType : std::uint8_t { f32, f64, i64, boolean };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::boolean:
      return 1;
  }
  return 0;
}

constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i64:
      return "i64";
    case DType::boolean:
      return "boolean";
  }
  return "?";
}

/// Only floating-point tensors can have gradients.
constexpr bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// dtype_of<float> is DType::f32, and so on; other types do not compile.
template <class T>
inline constexpr DType dtype_of = T::no_such_element_type;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;

}  // namespace gradzoo

template <>
struct fmt::formatter<gradzoo::DType> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(gradzoo::DType dtype, Context& context) const {
    std::string_view text = gradzoo::name_of(dtype);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
