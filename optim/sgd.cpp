// Stochastic gradient descent.
#include "optim/sgd.h"

#include "core/create.h"
#include "core/ops/update.h"
#include "optim/parameters.h"

namespace gradzoo::optim {

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& given)
    : options(given), parameters_(checked_parameters("Sgd", parameters)) {
  check(options.lr >= 0 && options.momentum >= 0 && options.weight_decay >= 0,
        "Sgd: lr, momentum and weight_decay must not be negative, got {}, {} and {}", options.lr,
        options.momentum, options.weight_decay);
  check(!options.nesterov || options.momentum > 0, "Sgd: nesterov needs a momentum above 0");
  velocity_.resize(parameters_.size());
}

void Sgd::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    if (!gradient.defined()) continue;
    if (options.momentum != 0 && !velocity_[i].defined()) velocity_[i] = zeros_like(gradient);
    sgd_update(parameters_[i], gradient, velocity_[i],
               {options.lr, options.momentum, options.weight_decay, options.nesterov});
  }
}

void Sgd::zero_grad() { optim::zero_grad(parameters_); }

}  // namespace gradzoo::optim
