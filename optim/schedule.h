// Learning rates over time: pure functions of the step, which counts from 1.
#pragma once

#include <cstdint>

namespace gradzoo::optim {

/// factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017): rises for
/// `warmup` steps, then falls with the root of the step. Throws unless all counts are at least 1.
double noam(std::int64_t step, std::int64_t d_model, std::int64_t warmup, double factor = 1);

/// From 0 to 1 in a straight line over `warmup` steps, then 1. 0 warm-up steps: always 1.
double linear_warmup(std::int64_t step, std::int64_t warmup);

/// linear_warmup, then half a cosine from 1 down to `floor` at `total` steps, and `floor` after
/// (Loshchilov and Hutter 2017).
double cosine(std::int64_t step, std::int64_t total, std::int64_t warmup = 0, double floor = 0);

}  // namespace gradzoo::optim
