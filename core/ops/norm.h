// Normalisation over the last axis.
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

}  // namespace gradzoo
