// Adagrad.
#include "optim/adagrad.h"

namespace gradzoo::optim {

void AdagradRule::check_options(const AdagradOptions& options) {
  check(options.lr >= 0 && options.lr_decay >= 0 && options.initial_accumulator >= 0 &&
            options.eps >= 0 && options.weight_decay >= 0,
        "Adagrad: lr, lr_decay, initial_accumulator, eps and weight_decay must not be negative, "
        "got {}, {}, {}, {} and {}",
        options.lr, options.lr_decay, options.initial_accumulator, options.eps,
        options.weight_decay);
}

std::vector<StateTensor> AdagradRule::state(const AdagradOptions& options) {
  return {{"sum", true, options.initial_accumulator}};
}

void AdagradRule::update(const Tensor& parameter, const Tensor& gradient,
                         const std::vector<Tensor>& state, const AdagradOptions& options,
                         std::int64_t step, double lr_factor) {
  adagrad_update(parameter, gradient, state[0], options, step, lr_factor);
}

}  // namespace gradzoo::optim
