// exp, log and what is made from them as short branch-free polynomials, so that a loop calling them
// inside a GRADZOO_SIMD function becomes vector code. Errors are in units in the last place (ulp),
// measured over the whole range.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/kernels/float_format.h"
#include "core/kernels/simd.h"

namespace gradzoo::kernels::math {

/// x cut to [low, high]; NaN stays.
template <class T>
GRADZOO_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// exp(x) = 2^n (1 + q), with 2^(n-1) as half_scale: n = 128 must not overflow.
template <class T>
struct Exponential {
  T q;
  T half_scale;
};

/// For exp_in_range, which explains the arguments.
template <class T>
GRADZOO_INLINE Exponential<T> exponential(T x, T low) {
  using F = Format<T>;
  const T shifted = x * T(1.44269504088896340736) + F::kRound;
  const T n = shifted - F::kRound;
  const T r = x - n * F::kLn2High - n * F::kLn2Low + low;
  return {r + r * r * polynomial(r, F::kExp),
          from_bits<T>((bits(shifted) + F::kBias - 1) << F::kMantissa)};
}

/// exp(x + low) for kMinExp <= x <= kMaxExp, where low is a small correction; NaN stays.
template <class T>
GRADZOO_INLINE T exp_in_range(T x, T low = T(-0.0)) {
  const auto [q, half_scale] = exponential(x, low);
  return (2 * q + 2) * half_scale;
}

/// 1.1 ulp. Results below the least normal number, and a little above it, are 0.
template <class T>
GRADZOO_INLINE T exp(T x) {
  return exp_in_range(clamp(x, Format<T>::kMinExp, Format<T>::kMaxExp));
}

/// exp(x) for x <= 0 and NaN, one comparison cheaper.
template <class T>
GRADZOO_INLINE T exp_negative(T x) {
  return exp_in_range(x < Format<T>::kMinExp ? Format<T>::kMinExp : x);
}

/// log(x) for normal positive x, with `exponent` added to its binary exponent.
template <class T>
GRADZOO_INLINE T log_normal(T x, T exponent) {
  using F = Format<T>;
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)); the biased k becomes a number inside 2^mantissa.
  const Bits<T> moved = bits(x) + (F::kOne - F::kRootHalf);
  constexpr T kOffset = T(Bits<T>(1) << F::kMantissa);
  const T k = from_bits<T>((moved >> F::kMantissa) | bits(kOffset)) - (kOffset + T(F::kBias));
  const T n = k + exponent;
  const T f = from_bits<T>((moved & ((Bits<T>(1) << F::kMantissa) - 1)) + F::kRootHalf) - 1;
  // log(1 + f) = f - f^2/2 + s (f^2/2 + odd(s)), s = f / (2 + f): fdlibm's arrangement.
  const T s = f / (2 + f);
  const T z = s * s;
  const T half = T(0.5) * f * f;
  return n * F::kLn2High -
         ((half - (s * (half + z * polynomial(z, F::kLog)) + n * F::kLn2Low)) - f);
}

/// 1 ulp; log(0) = -inf, of a negative number NaN.
template <class T>
GRADZOO_INLINE T log(T x) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr int kShift = Format<T>::kMantissa + 2;  // makes the least number a normal one
  const bool small = x < std::numeric_limits<T>::min();
  const T y = log_normal(small ? x * T(Bits<T>(1) << kShift) : x, small ? T(-kShift) : T(0));
  const T special = x == 0 ? -kInfinity : std::numeric_limits<T>::quiet_NaN();
  return x > 0 ? (x < kInfinity ? y : x) : special;
}

/// log(1 + x) for 0 <= x <= 1 and NaN; 2 ulp. What 1 + x rounds away comes back by the derivative.
template <class T>
GRADZOO_INLINE T log1p_unit(T x) {
  const T w = 1 + x;
  return log_normal(w, T(0)) + (x - (w - 1)) / w;
}

/// 2.5 ulp.
template <class T>
GRADZOO_INLINE T tanh(T x) {
  const T a = std::abs(x);
  const T limit = Format<T>::kTanhOne;
  const auto [q, half_scale] = exponential(2 * (a > limit ? limit : a), T(-0.0));
  const T e = 2 * half_scale * q + (2 * half_scale - 1);  // exp(2a) - 1, exact near 0
  return std::copysign(e / (e + 2), x);
}

/// 2.5 ulp.
template <class T>
GRADZOO_INLINE T sigmoid(T x) {
  return 1 / (1 + exp(-x));
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)); 2 ulp.
template <class T>
GRADZOO_INLINE T softplus(T x) {
  return (x < 0 ? T(0) : x) + log1p_unit(exp_negative(-std::abs(x)));
}

/// (1 + erf(x / sqrt(2))) / 2, the distribution of a standard normal variable; 5 ulp in f32
/// down to -8, 7 below. f64 takes the library's erfc, which is not vector code.
template <class T>
GRADZOO_INLINE T normal_cdf(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return 0.5 * std::erfc(x * -0.70710678118654752440);
  } else {
    // The tail is exp(-a^2/2) g(u): g is smooth, and the square is taken exactly, in two parts,
    // for its rounding error would be multiplied by a^2.
    constexpr T kG[] = {5.400258782e-5f, 1.160989117e-4f, -3.394496454e-4f, -9.841322792e-4f,
                        2.904398544e-3f, 6.132138808e-3f, -4.621324589e-2f, 1.232250279e-1f,
                        -2.06402622e-1f, 1.215139476e-1f};
    const T size = std::abs(x);
    const T a = size > T(13.2) ? T(13.2) : size;  // from here on the tail is 0
    const T top = from_bits<T>(bits(a) & 0xfffff000u);
    const T decay = exp_in_range(T(-0.5) * top * top, T(-0.5) * (a - top) * (a + top));
    const T tail = decay * polynomial((a - 3) / (a + 3), kG);
    return x < 0 ? tail : 1 - tail;
  }
}

/// exp(-x^2/2) / sqrt(2 pi), the derivative of normal_cdf.
template <class T>
GRADZOO_INLINE T normal_pdf(T x) {
  return T(0.39894228040143267794) * exp_negative(T(-0.5) * x * x);
}

}  // namespace gradzoo::kernels::math
