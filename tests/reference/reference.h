// Values that PyTorch computed, recorded by record.py in tests/data/, and how ours compare.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

/// What f32 and f64 must keep.
inline double tolerance(DType dtype) { return dtype == DType::f64 ? 1e-10 : 1e-5; }

/// CHECKs that shapes are equal and values within tolerance(dtype of `ours`): each relative to
/// itself or to the largest value of its tensor (counted as 1 when above), whichever is more. A sum
/// of both signs may be small by chance, a tensor of small gradients is not; below 0.1 it counts as
/// 0.1, for what is 0 on paper is rounding on both sides.
inline void check_recorded(const std::string& what, const Tensor& ours, const Tensor& theirs) {
  INFO(what);
  REQUIRE(ours.defined());
  REQUIRE(ours.shape() == theirs.shape());
  const Tensor a = to(ours.detach(), DType::f64), b = to(theirs, DType::f64);
  if (b.numel() == 0) return;
  const double largest = max(abs(b)).item();
  const Tensor allowed =
      tolerance(ours.dtype()) * clamp(abs(b), std::clamp(largest, 0.1, 1.0), INFINITY);
  const double excess = max(abs(a - b) - allowed).item();
  CHECK(excess <= 0);
}

}  // namespace gradzoo::test
