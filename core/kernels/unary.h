// Elementwise kernels of one array: y and x are arrays 0 and 1 of the walk. The `_backward` ones
// give dx = dy * f'(x) in one pass from dy and from x or y, arrays 0, 1, 2 of their walk.
#pragma once

#include "core/kernels/strided.h"

namespace gradzoo::kernels {

/// Also for i64, where it wraps.
template <class T>
void neg(const Walk<2>& walk, const T* x, T* y);
template <class T>
void exp(const Walk<2>& walk, const T* x, T* y);
template <class T>
void log(const Walk<2>& walk, const T* x, T* y);
template <class T>
void log1p(const Walk<2>& walk, const T* x, T* y);
template <class T>
void sqrt(const Walk<2>& walk, const T* x, T* y);
template <class T>
void rsqrt(const Walk<2>& walk, const T* x, T* y);
template <class T>
void square(const Walk<2>& walk, const T* x, T* y);
template <class T>
void abs(const Walk<2>& walk, const T* x, T* y);
template <class T>
void sin(const Walk<2>& walk, const T* x, T* y);
template <class T>
void cos(const Walk<2>& walk, const T* x, T* y);
template <class T>
void tanh(const Walk<2>& walk, const T* x, T* y);
template <class T>
void sigmoid(const Walk<2>& walk, const T* x, T* y);
template <class T>
void log_sigmoid(const Walk<2>& walk, const T* x, T* y);
template <class T>
void relu(const Walk<2>& walk, const T* x, T* y);
template <class T>
void leaky_relu(const Walk<2>& walk, const T* x, T* y, double slope);
template <class T>
void gelu_erf(const Walk<2>& walk, const T* x, T* y);
template <class T>
void gelu_tanh(const Walk<2>& walk, const T* x, T* y);
template <class T>
void silu(const Walk<2>& walk, const T* x, T* y);
template <class T>
void softplus(const Walk<2>& walk, const T* x, T* y);
template <class T>
void reciprocal(const Walk<2>& walk, const T* x, T* y);
template <class T>
void clamp(const Walk<2>& walk, const T* x, T* y, double low, double high);
template <class T>
void sign(const Walk<2>& walk, const T* x, T* y);
template <class T>
void floor(const Walk<2>& walk, const T* x, T* y);
/// The distribution function of a standard normal variable.
template <class T>
void normal_cdf(const Walk<2>& walk, const T* x, T* y);

template <class T>
void sqrt_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx);
template <class T>
void tanh_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx);
template <class T>
void sigmoid_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx);
template <class T>
void log_sigmoid_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx);
template <class T>
void relu_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx);
template <class T>
void leaky_relu_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx, double slope);
template <class T>
void gelu_erf_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx);
template <class T>
void gelu_tanh_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx);
template <class T>
void silu_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx);
template <class T>
void softplus_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx);
template <class T>
void clamp_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx, double low, double high);

}  // namespace gradzoo::kernels
