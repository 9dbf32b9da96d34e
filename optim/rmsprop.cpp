// RMSprop.
#include "optim/rmsprop.h"

namespace gradzoo::optim {

void RmsPropRule::check_options(const RmsPropOptions& options) {
  check(options.lr >= 0 && options.eps >= 0 && options.weight_decay >= 0 && options.momentum >= 0,
        "RmsProp: lr, eps, weight_decay and momentum must not be negative, got {}, {}, {} and {}",
        options.lr, options.eps, options.weight_decay, options.momentum);
  check(options.alpha >= 0 && options.alpha < 1, "RmsProp: alpha must be in [0, 1), got {}",
        options.alpha);
}

std::vector<StateTensor> RmsPropRule::state(const RmsPropOptions& options) {
  return {{"square"}, {"mean", options.centered}, {"velocity", options.momentum != 0}};
}

void RmsPropRule::update(const Tensor& parameter, const Tensor& gradient,
                         const std::vector<Tensor>& state, const RmsPropOptions& options,
                         std::int64_t, double lr_factor) {
  rmsprop_update(parameter, gradient, state[0], state[1], state[2], options, lr_factor);
}

}  // namespace gradzoo::optim
