// Adagrad.
#pragma once

#include "core/ops/update.h"
#include "optim/optimizer.h"

namespace gradzoo::optim {

using gradzoo::AdagradOptions;

struct AdagradRule {
  using Options = AdagradOptions;
  static constexpr const char* kName = "Adagrad";
  static void check_options(const AdagradOptions& options);
  static std::vector<StateTensor> state(const AdagradOptions& options);
  static void update(const Tensor& parameter, const Tensor& gradient,
                     const std::vector<Tensor>& state, const AdagradOptions& options,
                     std::int64_t step, double lr_factor);
};

/// Steps of PyTorch's Adagrad (Duchi et al. 2011).
using Adagrad = Optimizer<AdagradRule>;

}  // namespace gradzoo::optim
