// Learning rates over time.
#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/create.h"

namespace gradzoo::optim {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

void check_step(const char* schedule, std::int64_t step) {
  check(step >= 1, "{}: steps count from 1, got {}", schedule, step);
}

void check_warmup(const char* schedule, std::int64_t warmup) {
  check(warmup >= 0, "{}: warmup must not be negative, got {}", schedule, warmup);
}

// The number in a tensor of ReduceOnPlateau.
double& number(const Tensor& tensor) { return *mutable_data<double>(tensor); }

}  // namespace

double constant(std::int64_t step, double factor) {
  check_step("constant", step);
  return factor;
}

double linear_warmup(std::int64_t step, std::int64_t warmup) {
  check_step("linear_warmup", step);
  check_warmup("linear_warmup", warmup);
  return step >= warmup ? 1 : as_double(step) / as_double(warmup);
}

double noam(std::int64_t step, std::int64_t d_model, std::int64_t warmup, double factor) {
  check(step >= 1 && d_model >= 1 && warmup >= 1,
        "noam: step, d_model and warmup must be at least 1, got {}, {} and {}", step, d_model,
        warmup);
  return factor / std::sqrt(as_double(d_model)) *
         std::min(1 / std::sqrt(as_double(step)),
                  as_double(step) * std::pow(as_double(warmup), -1.5));
}

double inverse_sqrt(std::int64_t step, std::int64_t warmup) {
  check_step("inverse_sqrt", step);
  check_warmup("inverse_sqrt", warmup);
  if (step < warmup) return linear_warmup(step, warmup);
  return std::sqrt(as_double(std::max<std::int64_t>(warmup, 1)) / as_double(step));
}

double cosine(std::int64_t step, std::int64_t total, std::int64_t warmup, double floor) {
  check_step("cosine", step);
  check_warmup("cosine", warmup);
  check(total >= 1 && warmup <= total, "cosine: warmup {} is longer than the {} steps", warmup,
        total);
  if (step < warmup) return linear_warmup(step, warmup);
  if (step >= total) return floor;
  const double progress = as_double(step - warmup) / as_double(total - warmup);
  return floor + (1 - floor) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

double step_decay(std::int64_t step, std::int64_t every, double factor) {
  check_step("step_decay", step);
  check(every >= 1 && factor >= 0,
        "step_decay: every must be at least 1 and factor not negative, got {} and {}", every,
        factor);
  return std::pow(factor, as_double((step - 1) / every));
}

ReduceOnPlateau::ReduceOnPlateau(const PlateauOptions& options) : options_(options) {
  check(options.factor > 0 && options.factor < 1,
        "ReduceOnPlateau: factor must be between 0 and 1, got {}", options.factor);
  check(options.patience >= 0 && options.cooldown >= 0,
        "ReduceOnPlateau: patience and cooldown must not be negative, got {} and {}",
        options.patience, options.cooldown);
  check(options.threshold >= 0 && options.min_factor >= 0,
        "ReduceOnPlateau: threshold and min_factor must not be negative, got {} and {}",
        options.threshold, options.min_factor);
  const double worst = std::numeric_limits<double>::infinity();
  factor_ = scalar(1, DType::f64);
  best_ = scalar(options.higher_is_better ? -worst : worst, DType::f64);
  without_improvement_ = scalar(0, DType::f64);
  cooldown_ = scalar(0, DType::f64);
}

bool ReduceOnPlateau::is_better(double metric) const {
  const double sign = options_.higher_is_better ? 1 : -1;
  const double best = number(best_);
  const double bound =
      options_.absolute ? best + sign * options_.threshold : best * (1 + sign * options_.threshold);
  return sign * metric > sign * bound;
}

double ReduceOnPlateau::update(double metric) {
  if (is_better(metric)) {
    number(best_) = metric;
    number(without_improvement_) = 0;
  } else {
    ++number(without_improvement_);
  }
  if (number(cooldown_) > 0) {
    --number(cooldown_);
    number(without_improvement_) = 0;
  }
  if (number(without_improvement_) > as_double(options_.patience)) {
    number(factor_) = std::max(number(factor_) * options_.factor, options_.min_factor);
    number(cooldown_) = as_double(options_.cooldown);
    number(without_improvement_) = 0;
  }
  return factor();
}

}  // namespace gradzoo::optim
