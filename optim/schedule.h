// Learning rates over time, as factors for Optimizer::step. All but ReduceOnPlateau are pure
// functions of the step, which counts from 1: a resumed run only has to know its step.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::optim {

/// The same at every step.
double constant(std::int64_t step, double factor = 1);

/// From 0 to 1 in a straight line over `warmup` steps, then 1. 0 warm-up steps: always 1.
double linear_warmup(std::int64_t step, std::int64_t warmup);

/// factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017): rises for
/// `warmup` steps, then falls with the root of the step. Throws unless all counts are at least 1.
double noam(std::int64_t step, std::int64_t d_model, std::int64_t warmup, double factor = 1);

/// linear_warmup, then sqrt(warmup / step): noam scaled to a peak of 1. Without warm-up: step^-0.5.
double inverse_sqrt(std::int64_t step, std::int64_t warmup);

/// linear_warmup, then half a cosine from 1 down to `floor` at `total` steps, and `floor` after
/// (Loshchilov and Hutter 2017).
double cosine(std::int64_t step, std::int64_t total, std::int64_t warmup = 0, double floor = 0);

/// 1 for the first `every` steps, then multiplied by `factor` after each `every` more.
double step_decay(std::int64_t step, std::int64_t every, double factor);

struct PlateauOptions {
  double factor = 0.1;         ///< what the learning rate is multiplied by at each reduction
  std::int64_t patience = 10;  ///< evaluations without improvement that are still accepted
  double threshold = 1e-4;     ///< an improvement is better by more than this part of the best
  bool absolute = false;       ///< by more than `threshold` itself instead
  std::int64_t cooldown = 0;   ///< evaluations after a reduction that are not counted
  double min_factor = 0;       ///< the product of all reductions goes no lower
  bool higher_is_better = false;
};

/// Lowers the learning rate when a metric no longer improves, as PyTorch's ReduceLROnPlateau does.
/// What it remembers is in tensors, for nn::save and nn::load.
class ReduceOnPlateau {
 public:
  /// Throws for options out of range.
  explicit ReduceOnPlateau(const PlateauOptions& options = {});
  ReduceOnPlateau(ReduceOnPlateau&&) noexcept = default;
  ReduceOnPlateau& operator=(ReduceOnPlateau&&) noexcept = default;

  /// To be called after each evaluation; gives the new factor(). A NaN is no improvement.
  double update(double metric);
  /// For Optimizer::step: 1 at first, then the product of all reductions.
  double factor() const { return factor_.item(); }

  static void fields(auto& self, auto&& visit) {
    visit("factor", self.factor_);
    visit("best", self.best_);
    visit("without_improvement", self.without_improvement_);
    visit("cooldown", self.cooldown_);
  }

 private:
  bool is_better(double metric) const;

  PlateauOptions options_;
  Tensor factor_, best_, without_improvement_, cooldown_;  // f64, one number each
};

}  // namespace gradzoo::optim
