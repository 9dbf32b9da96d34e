// Normalisation over the last axes, and dropout.
#pragma once

#include "core/tensor.h"

namespace gradzoo {

/// (x - mean) / sqrt(var + eps) * weight + bias over the last axis, whose extent weight and bias
/// have (or undefined: 1 and 0). Biased variance (Ba et al. 2016); the variance is taken around
/// the mean, so large means cost no digits. A constant row gives the bias.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang and Sennrich 2019).
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6);

/// Inside a TrainingScope: each element is 0 with probability p, else scaled by 1 / (1 - p).
/// Outside, and for p = 0: x itself. Throws unless 0 <= p <= 1; p = 1 gives zeros.
Tensor dropout(const Tensor& x, double p);

}  // namespace gradzoo
