// Adam and AdamW.
#include "optim/adam.h"

namespace gradzoo::optim {

void AdamRule::check_options(const AdamOptions& options) {
  check(options.lr >= 0 && options.eps >= 0 && options.weight_decay >= 0,
        "Adam: lr, eps and weight_decay must not be negative, got {}, {} and {}", options.lr,
        options.eps, options.weight_decay);
  check(options.beta1 >= 0 && options.beta1 < 1 && options.beta2 >= 0 && options.beta2 < 1,
        "Adam: beta1 and beta2 must be in [0, 1), got {} and {}", options.beta1, options.beta2);
}

std::vector<StateTensor> AdamRule::state(const AdamOptions&) { return {{"mean"}, {"variance"}}; }

void AdamRule::update(const Tensor& parameter, const Tensor& gradient,
                      const std::vector<Tensor>& state, const AdamOptions& options,
                      std::int64_t step, double lr_factor) {
  adam_update(parameter, gradient, state[0], state[1], options, step, lr_factor);
}

}  // namespace gradzoo::optim
