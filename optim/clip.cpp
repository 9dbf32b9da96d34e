// Keeping gradients from exploding. Gradients are replaced, never overwritten: two parameters may
// hold the same tensor.
#include "optim/clip.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "core/scope.h"

namespace gradzoo::optim {
namespace {

std::vector<Parameter> with_gradient(const char* user, const Parameters& parameters) {
  std::vector<Parameter> found = unique_parameters(user, {parameters});
  std::erase_if(found, [](const Parameter& p) { return !p.tensor.grad().defined(); });
  return found;
}

// The norm of finite numbers of f32 may be too large for an f32.
double norm_of(const Tensor& gradient) {
  const double found = norm(gradient).item();
  return std::isfinite(found) ? found : norm(to(gradient, DType::f64)).item();
}

double common_norm(const std::vector<Parameter>& parameters) {
  double norm_so_far = 0;
  for (const Parameter& p : parameters) {
    norm_so_far = std::hypot(norm_so_far, norm_of(p.tensor.grad()));
  }
  return norm_so_far;
}

}  // namespace

double grad_norm(const Parameters& parameters) {
  const NoGrad no_grad;
  return common_norm(with_gradient("grad_norm", parameters));
}

double clip_grad_norm(const Parameters& given, double max_norm) {
  check(max_norm > 0, "clip_grad_norm: max_norm must be above 0, got {}", max_norm);
  const NoGrad no_grad;
  std::vector<Parameter> parameters = with_gradient("clip_grad_norm", given);
  const double total = common_norm(parameters);
  if (!std::isfinite(total)) {
    for (const Parameter& p : parameters) {
      check(std::isfinite(norm_of(p.tensor.grad())),
            "clip_grad_norm: the gradient of parameter {} (shape {}) is not finite", p.name,
            p.tensor.shape());
    }
    fail("clip_grad_norm: the norm of all gradients is not finite");
  }
  if (total <= max_norm) return total;
  for (Parameter& p : parameters) p.tensor.set_grad(p.tensor.grad() * (max_norm / total));
  return total;
}

void clip_grad_value(const Parameters& given, double max_value) {
  check(max_value > 0, "clip_grad_value: max_value must be above 0, got {}", max_value);
  const NoGrad no_grad;
  std::vector<Parameter> parameters = with_gradient("clip_grad_value", given);
  std::vector<Tensor> clamped;
  for (const Parameter& p : parameters) {
    clamped.push_back(clamp(p.tensor.grad(), -max_value, max_value));
    check(!std::isnan(norm(clamped.back()).item()),
          "clip_grad_value: the gradient of parameter {} (shape {}) has a NaN", p.name,
          p.tensor.shape());
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].tensor.set_grad(clamped[i]);
}

}  // namespace gradzoo::optim
