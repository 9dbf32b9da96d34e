// Reductions in two steps, and of powers: variance, log-sum-exp, norms.
#pragma once

#include "core/kernels/reduce.h"

namespace gradzoo::kernels {

/// y = the sum of (x - mean)^2 over `divisor`.
template <class T>
void variance(const Fold& fold, const T* x, const double* mean, double divisor, T* y);
/// Its square root.
template <class T>
void deviation(const Fold& fold, const T* x, const double* mean, double divisor, T* y);

/// y = log(sum(exp(x))); on entry y holds the maximum of x.
template <class T>
void logsumexp(const Fold& fold, const T* x, T* y);

/// y = the largest |x|, 0 of nothing; NaN if there is one.
template <class T>
void norm_inf(const Fold& fold, const T* x, T* y);
/// y = the sum of |x|.
template <class T>
void norm_1(const Fold& fold, const T* x, T* y);
/// y = sqrt(sum of x^2), in f64, whose range no square of an f32 leaves.
void norm_2(const Fold& fold, const float* x, float* y);
/// y = (sum of |x|^p)^(1/p); on entry y holds the largest |x|, by which x is scaled.
template <class T>
void norm_p(const Fold& fold, const T* x, double p, T* y);

}  // namespace gradzoo::kernels
