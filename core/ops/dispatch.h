// From a run-time dtype to a template argument: dispatch_floating("op", x.dtype(), [&]<class T>()
// {…}).
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/error.h"

namespace gradzoo {

/// Calls f.template operator()<T>() for f32 and f64. Throws naming `op` for other dtypes.
template <class F>
decltype(auto) dispatch_floating(const char* op, DType dtype, F&& f) {
  check(is_floating(dtype), "{}: the tensor must be f32 or f64, got {}", op, dtype);
  if (dtype == DType::f32) return f.template operator()<float>();
  return f.template operator()<double>();
}

/// For f32, f64 and i64. Throws naming `op` for boolean.
template <class F>
decltype(auto) dispatch_numeric(const char* op, DType dtype, F&& f) {
  check(dtype != DType::boolean, "{}: the tensor must hold numbers, got {}", op, dtype);
  if (dtype == DType::f32) return f.template operator()<float>();
  if (dtype == DType::f64) return f.template operator()<double>();
  return f.template operator()<std::int64_t>();
}

/// For every dtype.
template <class F>
decltype(auto) dispatch_all(DType dtype, F&& f) {
  if (dtype == DType::boolean) return f.template operator()<bool>();
  return dispatch_numeric("dispatch", dtype, f);
}

}  // namespace gradzoo
