// RMSprop.
#pragma once

#include "core/ops/update.h"
#include "optim/optimizer.h"

namespace gradzoo::optim {

using gradzoo::RmsPropOptions;

struct RmsPropRule {
  using Options = RmsPropOptions;
  static constexpr const char* kName = "RmsProp";
  static void check_options(const RmsPropOptions& options);
  static std::vector<StateTensor> state(const RmsPropOptions& options);
  static void update(const Tensor& parameter, const Tensor& gradient,
                     const std::vector<Tensor>& state, const RmsPropOptions& options,
                     std::int64_t step, double lr_factor);
};

/// Steps of PyTorch's RMSprop (Tieleman and Hinton 2012), also centered (Graves 2013) and with
/// momentum.
using RmsProp = Optimizer<RmsPropRule>;

}  // namespace gradzoo::optim
