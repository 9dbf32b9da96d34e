// Stochastic gradient descent.
#pragma once

#include "core/ops/update.h"
#include "optim/optimizer.h"

namespace gradzoo::optim {

using gradzoo::SgdOptions;

struct SgdRule {
  using Options = SgdOptions;
  static constexpr const char* kName = "Sgd";
  static void check_options(const SgdOptions& options);
  static std::vector<StateTensor> state(const SgdOptions& options);
  static void update(const Tensor& parameter, const Tensor& gradient,
                     const std::vector<Tensor>& state, const SgdOptions& options, std::int64_t step,
                     double lr_factor);
};

/// Steps of PyTorch's SGD: plain, with momentum, with Nesterov's (Sutskever et al. 2013).
using Sgd = Optimizer<SgdRule>;

}  // namespace gradzoo::optim
