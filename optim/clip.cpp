// Keeping gradients from exploding.
#include "optim/clip.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/scope.h"
#include "optim/parameters.h"

namespace gradzoo::optim {

double grad_norm(const std::vector<Tensor>& parameters) {
  const NoGrad no_grad;
  double norm_so_far = 0;
  for (const Tensor& parameter : checked_parameters("grad_norm", parameters)) {
    if (!parameter.grad().defined()) continue;
    norm_so_far = std::hypot(norm_so_far, norm(parameter.grad()).item());
  }
  return norm_so_far;
}

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  check(max_norm > 0, "clip_grad_norm: max_norm must be above 0, got {}", max_norm);
  const NoGrad no_grad;
  const double total = grad_norm(parameters);
  for (std::size_t i = 0; !std::isfinite(total) && i < parameters.size(); ++i) {
    const Tensor gradient = parameters[i].grad();
    check(!gradient.defined() || std::isfinite(norm(gradient).item()),
          "clip_grad_norm: the gradient of parameter {} (shape {}) is not finite", i,
          parameters[i].shape());
  }
  check(std::isfinite(total), "clip_grad_norm: the norm of all gradients is not finite");
  if (total <= max_norm) return total;
  for (Tensor parameter : checked_parameters("clip_grad_norm", parameters)) {
    if (!parameter.grad().defined()) continue;
    parameter.set_grad(parameter.grad() * (max_norm / total));
  }
  return total;
}

}  // namespace gradzoo::optim
