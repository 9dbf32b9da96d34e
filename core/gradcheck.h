// Finite differences against backward: is a gradient right?
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

struct GradcheckOptions {
  double eps = 1e-6;   ///< half the step of the central difference
  double rtol = 1e-5;  ///< allowed: |analytic - numeric| <= atol + rtol * |numeric|
  double atol = 1e-7;
  std::uint64_t seed = 0;  ///< of the random upstream gradient
};

/// An element of an input: what backward says and what the differences say.
struct GradcheckElement {
  std::size_t input = 0;  ///< position in `inputs`; one past them: the upstream gradient
  Shape index;            ///< of the element in that input
  double analytic = 0;
  double numeric = 0;
  double error = 0;  ///< |analytic - numeric|
  double ratio = 0;  ///< error / what is allowed: right up to 1; infinite for a NaN
};

/// What was found: the element that is furthest from being right, whether or not it is too far.
struct GradcheckResult : GradcheckElement {
  bool ok = true;
  std::vector<GradcheckElement> worst;  ///< of each f64 input that has elements, in their order
  std::string report;                   ///< one line for a person: the above, or what else is wrong

  explicit operator bool() const { return ok; }
};

/// The function to check. It may use its arguments, or the same tensors captured elsewhere (the
/// parameters of a module): they are changed in place while the check runs, and restored.
using CheckedFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// Compares, for every element of every input, backward with the central difference of the
/// output's product with a random upstream gradient. Inputs: f64 leaves, which require gradients
/// while the check runs; the integer and boolean ones among them are passed on unchanged. An input
/// that f ignores has gradient 0. Finds a function that gives different bits for the same inputs.
/// Throws when nothing can be checked: no f64 leaf, an output that is not f64.
GradcheckResult gradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

/// gradcheck of the gradient itself: second derivatives, with respect to the inputs and to the
/// upstream gradient. Before, the gradient that is recorded (create_graph) must equal the one that
/// is not, since ops may compute them in two ways.
GradcheckResult gradgradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace gradzoo
