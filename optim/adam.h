// Adam and AdamW.
#pragma once

#include "core/ops/update.h"
#include "optim/optimizer.h"

namespace gradzoo::optim {

using gradzoo::AdamOptions;

struct AdamRule {
  using Options = AdamOptions;
  static constexpr const char* kName = "Adam";
  static void check_options(const AdamOptions& options);
  static std::vector<StateTensor> state(const AdamOptions& options);
  static void update(const Tensor& parameter, const Tensor& gradient,
                     const std::vector<Tensor>& state, const AdamOptions& options,
                     std::int64_t step, double lr_factor);
};

/// Steps of PyTorch's Adam (Kingma and Ba 2015), and with `decoupled` weight decay of its AdamW
/// (Loshchilov and Hutter 2019).
using Adam = Optimizer<AdamRule>;

}  // namespace gradzoo::optim
