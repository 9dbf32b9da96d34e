// A row of the table of layers against finite differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/common/layers/table.h"

namespace gradzoo::examples {

struct LayerCheckOptions {
  /// The largest relative error that counts as right: |analytic - numeric| / (|numeric| + 0.01).
  /// The 0.01 keeps derivatives near 0 from being compared with their own rounding.
  double rtol = 1e-5;
  std::uint64_t seed = 1;  ///< of weights and inputs
};

/// A tensor by name and its worst element.
struct TensorCheck {
  std::string name;
  bool is_weight = false;
  Shape shape;
  GradcheckElement worst;
  double relative = 0;  ///< error of the worst element
};

/// Derivatives of one order. Those of second order are of the gradient, also with respect to the
/// upstream gradient, which counts as an input.
struct OrderCheck {
  bool ok = true;
  std::string problem;  ///< what is wrong, for a person; empty when ok
  std::vector<TensorCheck> tensors;

  /// The tensor with the largest relative error, null when there is none.
  const TensorCheck* worst() const;
  /// The largest relative error of the inputs or of the weights; none when there are none.
  std::optional<double> relative(bool of_weights) const;
};

struct LayerCheck {
  std::int64_t parameters = 0;  ///< as they were counted
  bool parameters_ok = true;    ///< as many as on paper
  OrderCheck first, second;
  double seconds = 0;

  bool ok() const { return parameters_ok && first.ok && second.ok; }
};

/// Checks one row. An Error of the layer is what is wrong with it, not thrown.
LayerCheck check_layer(const LayerRow& row, const LayerCheckOptions& options = {});

}  // namespace gradzoo::examples
