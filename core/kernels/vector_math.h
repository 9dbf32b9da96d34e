// exp, log and what is made from them as short branch-free polynomials, so that a loop calling them
// inside a GRADZOO_SIMD function becomes vector code. Errors are in units in the last place (ulp),
// measured over the whole range.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/kernels/simd.h"

namespace gradzoo::kernels::math {

/// Layout and constants of a floating-point format.
template <class T>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr Bits kBias = 127;
  static constexpr Bits kOne = 0x3f800000;       // 1
  static constexpr Bits kRootHalf = 0x3f3504f3;  // sqrt(1/2)
  static constexpr float kRound = 12582912;      // 1.5 * 2^23: adding it leaves an integer
  static constexpr float kMinExp = -87.5f, kMaxExp = 89;
  static constexpr float kTanhOne = 10;  // from here on tanh rounds to 1
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2, and the odd part of log, highest power first.
  static constexpr float kExp[] = {1.392912537e-3f, 8.365534112e-3f, 4.166653625e-2f,
                                   1.666656229e-1f, 0.5f};
  static constexpr float kLog[] = {0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f};
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kBias = 1023;
  static constexpr Bits kOne = 0x3ff0000000000000;
  static constexpr Bits kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kRound = 6755399441055744;  // 1.5 * 2^52
  static constexpr double kMinExp = -708.6, kMaxExp = 709.9;
  static constexpr double kTanhOne = 22;
  static constexpr double kLn2High = 6.93147180369123816490e-01;
  static constexpr double kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kExp[] = {2.51041919009196908e-8, 2.76250382434964257e-7,
                                    2.75572601424044784e-6, 2.48015104799033195e-5,
                                    1.98412698686200902e-4, 1.38888889244522303e-3,
                                    8.33333333332890231e-3, 4.16666666666090497e-2,
                                    1.66666666666666678e-1, 0.5};
  static constexpr double kLog[] = {1.479819860511658591e-01, 1.531383769920937332e-01,
                                    1.818357216161805012e-01, 2.222219843214978396e-01,
                                    2.857142874366239149e-01, 3.999999999940941908e-01,
                                    6.666666666666735130e-01};
};

template <class T>
using Bits = typename Format<T>::Bits;

template <class T>
GRADZOO_INLINE Bits<T> bits(T x) {
  return __builtin_bit_cast(Bits<T>, x);
}

template <class T>
GRADZOO_INLINE T from_bits(Bits<T> x) {
  return __builtin_bit_cast(T, x);
}

/// c[0] x^(n-1) + … + c[n-1].
template <class T, std::size_t n>
GRADZOO_INLINE T polynomial(T x, const T (&c)[n]) {
  T y = c[0];
  for (std::size_t i = 1; i < n; ++i) y = y * x + c[i];
  return y;
}

/// x cut to [low, high]; NaN stays.
template <class T>
GRADZOO_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// x without infinities: for x * s(x) where s goes to 0 at infinity faster than x grows.
template <class T>
GRADZOO_INLINE T finite(T x) {
  return clamp(x, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
}

/// exp(x) = 2^n (1 + q), with 2^(n-1) as half_scale: n = 128 must not overflow.
template <class T>
struct Exponential {
  T q;
  T half_scale;
};

/// Takes x + low, where low is a small correction, kMinExp <= x <= kMaxExp, and NaN.
template <class T>
GRADZOO_INLINE Exponential<T> exponential(T x, T low) {
  using F = Format<T>;
  const T shifted = x * T(1.44269504088896340736) + F::kRound;
  const T n = shifted - F::kRound;
  const T r = x - n * F::kLn2High - n * F::kLn2Low + low;
  return {r + r * r * polynomial(r, F::kExp),
          from_bits<T>((bits(shifted) + F::kBias - 1) << F::kMantissa)};
}

/// 1.1 ulp. Results below the least normal number, and a little above it, are 0.
template <class T>
GRADZOO_INLINE T exp(T x, T low = T(-0.0)) {
  const auto [q, half_scale] = exponential(clamp(x, Format<T>::kMinExp, Format<T>::kMaxExp), low);
  return (2 * q + 2) * half_scale;
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
  constexpr T kScale = T(Bits<T>(1) << 25);
  const bool small = x < std::numeric_limits<T>::min();
  const T y = log_normal(small ? x * kScale : x, small ? T(-25) : T(0));
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
  return (x < 0 ? T(0) : x) + log1p_unit(exp(-std::abs(x)));
}

}  // namespace gradzoo::kernels::math
