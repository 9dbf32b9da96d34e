// Directional derivatives of the loss.
#include "examples/common/check_grad.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/loss.h"

namespace gradzoo::examples {

std::vector<DirectionCheck> check_directions(const ZooModel& given, const Batch& batch, Rng& rng) {
  constexpr double step = 1e-5, tolerance = 1e-5;
  const ZooModel model = in_double(given);
  const auto loss = [&] {
    const Prediction p = predict(model, batch);
    return nn::sequence_cross_entropy(p.logits, p.targets, {.pad = p.ignored});
  };
  loss().backward();
  const NoGrad no_grad;
  std::vector<DirectionCheck> checks;
  for (const auto& [name, tensor] : named_parameters(model)) {
    const Tensor& weight = tensor;  // what a lambda may refer to
    const Tensor noise = randn(weight.shape(), rng, DType::f64);
    const Tensor direction = noise * (1 / std::max(norm(noise).item(), 1e-300));
    const Tensor before = clone(weight.detach());
    const auto loss_at = [&](double distance) {
      assign(weight, before + distance * direction);
      return loss().item();
    };
    DirectionCheck check{.name = name};
    // A weight that the loss does not depend on has no gradient.
    if (weight.grad().defined()) check.analytic = sum(weight.grad() * direction).item();
    check.numeric = (loss_at(step) - loss_at(-step)) / (2 * step);
    assign(weight, before);
    const double difference = std::abs(check.analytic - check.numeric);
    const double scale = std::max(std::abs(check.analytic), std::abs(check.numeric));
    check.error = difference / std::max(scale, 1e-300);
    check.ok = difference <= 1e-9 + tolerance * scale;  // 1e-9: rounding of the two losses
    checks.push_back(check);
  }
  return checks;
}

}  // namespace gradzoo::examples
