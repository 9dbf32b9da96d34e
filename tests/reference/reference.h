// Values that PyTorch computed, recorded by record.py in tests/data/, and how ours compare.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "core/ops.h"
#include "core/serialize.h"

namespace gradzoo::test {

/// tests/data/NAME.safetensors. GRADZOO_SOURCE_ROOT comes from meson.
inline TensorFile recorded(const std::string& name) {
  return load_tensors(std::string(GRADZOO_SOURCE_ROOT) + "/tests/data/" + name + ".safetensors");
}

/// A copy of the recorded tensor of that name, in the dtype that is tested. Throws when there is
/// none.
inline Tensor recorded(const TensorFile& file, const std::string& name, DType dtype) {
  const Tensor found = file.find(name);
  check(found.defined(), "reference: '{}' was not recorded", name);
  return clone(is_floating(found.dtype()) ? to(found, dtype) : found);
}

/// Relative for values above 1, absolute below: what f32 and f64 must keep.
inline double tolerance(DType dtype) { return dtype == DType::f64 ? 1e-10 : 1e-5; }

/// CHECKs that shapes are equal and values within tolerance(dtype of `ours`).
inline void check_recorded(const std::string& what, const Tensor& ours, const Tensor& theirs) {
  INFO(what);
  REQUIRE(ours.defined());
  REQUIRE(ours.shape() == theirs.shape());
  const Tensor a = to(ours.detach(), DType::f64), b = to(theirs, DType::f64);
  const double worst = max(abs(a - b) / maximum(abs(b), ones_like(b))).item();
  CHECK(worst <= tolerance(ours.dtype()));
}

}  // namespace gradzoo::test
