// Learning rates over time.
#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace gradzoo::optim {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

double noam(std::int64_t step, std::int64_t d_model, std::int64_t warmup, double factor) {
  check(step >= 1 && d_model >= 1 && warmup >= 1,
        "noam: step, d_model and warmup must be at least 1, got {}, {} and {}", step, d_model,
        warmup);
  return factor / std::sqrt(as_double(d_model)) *
         std::min(1 / std::sqrt(as_double(step)),
                  as_double(step) * std::pow(as_double(warmup), -1.5));
}

double linear_warmup(std::int64_t step, std::int64_t warmup) {
  check(step >= 1 && warmup >= 0,
        "linear_warmup: steps count from 1 and warmup from 0, got {} and {}", step, warmup);
  return step >= warmup ? 1 : as_double(step) / as_double(warmup);
}

double cosine(std::int64_t step, std::int64_t total, std::int64_t warmup, double floor) {
  check(total >= 1 && warmup <= total, "cosine: warmup {} is longer than the {} steps", warmup,
        total);
  if (step < warmup) return linear_warmup(step, warmup);
  if (step >= total) return floor;
  const double progress = as_double(step - warmup) / as_double(total - warmup);
  return floor + (1 - floor) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace gradzoo::optim
