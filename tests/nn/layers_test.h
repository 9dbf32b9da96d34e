// What the tests of layers share.
#pragma once

#include "core/ops.h"
#include "nn/clone.h"
#include "nn/gradcheck.h"

namespace gradzoo::test {

/// A random f64 leaf that requires a gradient.
inline Tensor input(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  return randn(shape, rng, DType::f64).requires_grad_();
}

/// The largest difference of two tensors of equal shape, in double.
inline double max_difference(const Tensor& a, const Tensor& b) {
  check(a.shape() == b.shape(), "max_difference: {} and {}", a.shape(), b.shape());
  if (a.numel() == 0) return 0;
  return max(abs(to(a.detach(), DType::f64) - to(b.detach(), DType::f64))).item();
}

}  // namespace gradzoo::test
