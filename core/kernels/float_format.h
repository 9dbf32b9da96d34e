// Floating-point numbers as bits, and the constants of exp and log for each format: what
// vector_math.h is built from.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace gradzoo::kernels::math
