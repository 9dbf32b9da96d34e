// Central differences of a whole function with respect to anything that is computed on the way.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/trace.h"
#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

/// How gradients are compared with differences: |analytic - numeric| <= atol + rtol * |numeric|.
struct Tolerance {
  double eps, rtol, atol;
};

/// gradcheck's for functions of f64. f32 has 7 digits: a step of 0.004 leaves about 3 of them.
Tolerance tolerance_for(DType dtype, double result);

class Differences {
 public:
  /// Runs the function again, to see whether it does the same as it did in `steps`, the forward
  /// part of a trace, and gives the same result. If not, Error says what to change.
  Differences(const std::function<Tensor()>& function, const std::vector<TraceStep>& steps,
              const Tensor& result);

  /// Of at most six elements of what the step-th step of the trace put out: the one with the
  /// largest gradient, and others evenly spaced.
  std::vector<Difference> of_step(std::size_t step, const Tensor& gradient) const;
  /// Of a leaf that the function uses. Its numbers change while this runs, and come back exactly,
  /// also when the function throws.
  std::vector<Difference> of_leaf(const Tensor& leaf, const Tensor& gradient) const;

 private:
  const std::function<Tensor()>& function_;
  const std::vector<TraceStep>& steps_;
  Tolerance tolerance_;
};

}  // namespace gradzoo::examples
