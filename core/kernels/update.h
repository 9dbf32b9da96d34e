// One pass over a parameter, its gradient and its state, all arrays of n numbers. The rules are
// worked out in double by the caller: 1 - 0.999 in float has four right digits.
#pragma once

#include <cstdint>

namespace gradzoo::kernels {

template <class T>
struct SgdRule {
  T lr, momentum, l2;
  T fresh;  ///< what the gradient is multiplied by on its way into v: 1 - dampening
  bool nesterov;
};

/// g += l2 p; v = momentum v + fresh g; p -= lr v (nesterov: lr (g + momentum v)). v is null for
/// no momentum: p -= lr g.
template <class T>
void sgd(std::int64_t n, const T* g, T* v, T* p, const SgdRule<T>& rule);

template <class T>
struct AdamRule {
  T beta1, rest1;  ///< rest1 = 1 - beta1
  T beta2, rest2;  ///< rest2 = 1 - beta2
  T eps;
  T step_size;       ///< lr / (1 - beta1^t)
  T variance_scale;  ///< 1 / sqrt(1 - beta2^t)
  T l2;              ///< added to the gradient, times p
  T shrink;          ///< p is multiplied by it first
};

/// p *= shrink; g += l2 p; m = beta1 m + rest1 g; v = beta2 v + rest2 g^2;
/// p -= step_size m / (sqrt(v) variance_scale + eps).
template <class T>
void adam(std::int64_t n, const T* g, T* m, T* v, T* p, const AdamRule<T>& rule);

template <class T>
struct RmsPropRule {
  T lr, alpha, rest, eps, momentum, l2;  ///< rest = 1 - alpha
};

/// g += l2 p; s = alpha s + rest g^2; d = g / (sqrt(s) + eps); v = momentum v + d; p -= lr v.
/// With m (null: not centered): m = alpha m + rest g, and s - m^2 in place of s under the root.
/// v is null for no momentum: p -= lr d.
template <class T>
void rmsprop(std::int64_t n, const T* g, T* s, T* m, T* v, T* p, const RmsPropRule<T>& rule);

template <class T>
struct AdagradRule {
  T lr, eps, l2;
};

/// g += l2 p; s += g^2; p -= lr g / (sqrt(s) + eps).
template <class T>
void adagrad(std::int64_t n, const T* g, T* s, T* p, const AdagradRule<T>& rule);

/// a += rest (p - a).
template <class T>
void average(std::int64_t n, const T* p, T* a, T rest);

}  // namespace gradzoo::kernels
