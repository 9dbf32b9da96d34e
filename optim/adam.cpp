// Adam and AdamW.
#include "optim/adam.h"

#include "core/create.h"
#include "core/ops/update.h"
#include "optim/parameters.h"

namespace gradzoo::optim {

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& given)
    : options(given), parameters_(checked_parameters("Adam", parameters)) {
  check(options.lr >= 0 && options.eps >= 0 && options.weight_decay >= 0,
        "Adam: lr, eps and weight_decay must not be negative, got {}, {} and {}", options.lr,
        options.eps, options.weight_decay);
  check(options.beta1 >= 0 && options.beta1 < 1 && options.beta2 >= 0 && options.beta2 < 1,
        "Adam: beta1 and beta2 must be in [0, 1), got {} and {}", options.beta1, options.beta2);
  state_.resize(parameters_.size());
}

void Adam::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    if (!gradient.defined()) continue;
    State& state = state_[i];
    if (state.step == 0) {
      state.mean = zeros_like(gradient);
      state.variance = zeros_like(gradient);
    }
    ++state.step;
    adam_update(parameters_[i], gradient, state.mean, state.variance,
                {state.step, options.lr, options.beta1, options.beta2, options.eps,
                 options.weight_decay, options.decoupled});
  }
}

void Adam::zero_grad() { optim::zero_grad(parameters_); }

}  // namespace gradzoo::optim
