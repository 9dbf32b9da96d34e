// Stochastic gradient descent.
#include "optim/sgd.h"

namespace gradzoo::optim {

void SgdRule::check_options(const SgdOptions& options) {
  check(options.lr >= 0 && options.momentum >= 0 && options.weight_decay >= 0,
        "Sgd: lr, momentum and weight_decay must not be negative, got {}, {} and {}", options.lr,
        options.momentum, options.weight_decay);
  check(options.dampening >= 0 && options.dampening <= 1,
        "Sgd: dampening must be from 0 to 1, got {}", options.dampening);
  check(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
        "Sgd: nesterov needs a momentum above 0 and no dampening, got {} and {}", options.momentum,
        options.dampening);
}

std::vector<StateTensor> SgdRule::state(const SgdOptions& options) {
  return {{"velocity", options.momentum != 0}};
}

void SgdRule::update(const Tensor& parameter, const Tensor& gradient,
                     const std::vector<Tensor>& state, const SgdOptions& options, std::int64_t step,
                     double lr_factor) {
  sgd_update(parameter, gradient, state[0], options, step, lr_factor);
}

}  // namespace gradzoo::optim
