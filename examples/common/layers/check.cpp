// A row of the table of layers against finite differences.
#include "examples/common/layers/check.h"

#include <algorithm>
#include <chrono>

namespace gradzoo::examples {
namespace {

// The absolute part of the tolerance as a part of the relative one: gradcheck allows
// atol + rtol * |numeric| = rtol * (|numeric| + 0.01).
constexpr double kFloor = 0.01;

using Checker = GradcheckResult (*)(const CheckedFunction&, const std::vector<Tensor>&,
                                    const GradcheckOptions&);

OrderCheck check_order(Checker checker, const LayerCase& made, const LayerCheckOptions& options) {
  nn::NamedTensors all = made.inputs;
  all.insert(all.end(), made.weights.begin(), made.weights.end());
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : all) tensors.push_back(tensor);
  OrderCheck check;
  try {
    const GradcheckResult result =
        checker(made.f, tensors, {.rtol = options.rtol, .atol = kFloor * options.rtol});
    check.ok = result.ok;
    if (!result.ok) check.problem = result.report;
    for (const GradcheckElement& worst : result.worst) {
      const bool is_upstream = worst.input == all.size();
      check.tensors.push_back({is_upstream ? "upstream gradient" : all[worst.input].first,
                               !is_upstream && worst.input >= made.inputs.size(),
                               is_upstream ? made.f(tensors).shape() : tensors[worst.input].shape(),
                               worst, worst.ratio * options.rtol});
    }
  } catch (const Error& error) {
    check.ok = false;
    check.problem = error.what();
  }
  return check;
}

}  // namespace

const TensorCheck* OrderCheck::worst() const {
  const auto found = std::max_element(
      tensors.begin(), tensors.end(),
      [](const TensorCheck& a, const TensorCheck& b) { return a.relative < b.relative; });
  return found == tensors.end() ? nullptr : &*found;
}

std::optional<double> OrderCheck::relative(bool of_weights) const {
  std::optional<double> largest;
  for (const TensorCheck& tensor : tensors) {
    if (tensor.is_weight == of_weights) {
      largest = std::max(largest.value_or(0), tensor.relative);
    }
  }
  return largest;
}

LayerCheck check_layer(const LayerRow& row, const LayerCheckOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Rng rng(options.seed);
  LayerCheck check;
  try {
    const LayerCase made = row.make(rng);
    for (const auto& [name, weight] : made.weights) check.parameters += weight.numel();
    check.parameters_ok = check.parameters == row.parameters;
    check.first = check_order(gradcheck, made, options);
    check.second = check_order(gradgradcheck, made, options);
  } catch (const Error& error) {  // it could not even be made
    check.first = {false, error.what(), {}};
  }
  check.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return check;
}

}  // namespace gradzoo::examples
