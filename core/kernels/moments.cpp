// Reductions in two steps, and of powers: variance, log-sum-exp, norms.
#include "core/kernels/moments.h"

#include <cmath>

#include "core/kernels/fold.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {
namespace {

template <class T>
struct Variance : Adding<T> {
  static constexpr bool kShifted = true;
  double divisor;
  GRADZOO_INLINE double of(T x, double mean) const {
    const double d = static_cast<double>(x) - mean;
    return d * d;
  }
  GRADZOO_INLINE T finish(double a, double) const { return static_cast<T>(a / divisor); }
};

template <class T>
struct Deviation : Variance<T> {
  GRADZOO_INLINE T finish(double a, double) const {
    return static_cast<T>(std::sqrt(a / this->divisor));
  }
};

template <class T>
struct LogSumExp : Adding<T> {
  static constexpr bool kShifted = true;
  GRADZOO_INLINE double of(T x, T largest) const {
    return static_cast<double>(math::exp(x - largest));
  }
  GRADZOO_INLINE T finish(double a, T largest) const {
    // x - largest is NaN where both are the same infinity; the answer is that infinity.
    return std::isfinite(largest) ? static_cast<T>(static_cast<double>(largest) + std::log(a))
                                  : largest;
  }
};

template <class T>
struct NormInf : Max<T> {
  GRADZOO_INLINE T identity() const { return 0; }
  GRADZOO_INLINE T of(T x, None) const { return std::abs(x); }
};

template <class T>
struct Norm1 : Adding<T> {
  GRADZOO_INLINE double of(T x, None) const { return std::abs(static_cast<double>(x)); }
  GRADZOO_INLINE T finish(double a, None) const { return static_cast<T>(a); }
};

struct Norm2 : Adding<float> {
  GRADZOO_INLINE double of(float x, None) const {
    return static_cast<double>(x) * static_cast<double>(x);
  }
  GRADZOO_INLINE float finish(double a, None) const { return static_cast<float>(std::sqrt(a)); }
};

// Of numbers divided by the largest: neither their powers nor the sum overflow.
template <class T>
struct ScaledNorm2 : Adding<T> {
  static constexpr bool kShifted = true;
  GRADZOO_INLINE double of(T x, T largest) const {
    const double ratio = static_cast<double>(x) / static_cast<double>(largest);
    return ratio * ratio;
  }
  GRADZOO_INLINE T finish(double a, T largest) const {
    // 0 / 0 and inf / inf are no numbers; the answer is the largest itself.
    return largest == 0 || !std::isfinite(largest) ? largest
                                                   : static_cast<T>(largest * std::sqrt(a));
  }
};

template <class T>
struct ScaledNorm : Adding<T> {
  static constexpr bool kShifted = true;
  double p;
  GRADZOO_INLINE double of(T x, T largest) const {
    return std::pow(std::abs(static_cast<double>(x)) / static_cast<double>(largest), p);
  }
  GRADZOO_INLINE T finish(double a, T largest) const {
    return largest == 0 || !std::isfinite(largest) ? largest
                                                   : static_cast<T>(largest * std::pow(a, 1 / p));
  }
};

}  // namespace

template <class T>
void variance(const Fold& fold, const T* x, const double* mean, double divisor, T* y) {
  fold_with(fold, x, y, mean, Variance<T>{{}, divisor});
}

template <class T>
void deviation(const Fold& fold, const T* x, const double* mean, double divisor, T* y) {
  fold_with(fold, x, y, mean, Deviation<T>{{{}, divisor}});
}

template <class T>
void logsumexp(const Fold& fold, const T* x, T* y) {
  fold_with(fold, x, y, y, LogSumExp<T>{});
}

template <class T>
void norm_inf(const Fold& fold, const T* x, T* y) {
  fold_plain(fold, x, y, NormInf<T>{});
}

template <class T>
void norm_1(const Fold& fold, const T* x, T* y) {
  fold_plain(fold, x, y, Norm1<T>{});
}

void norm_2(const Fold& fold, const float* x, float* y) { fold_plain(fold, x, y, Norm2{}); }

template <class T>
void norm_p(const Fold& fold, const T* x, double p, T* y) {
  if (p == 2) {
    fold_with(fold, x, y, y, ScaledNorm2<T>{});
  } else {
    fold_with(fold, x, y, y, ScaledNorm<T>{{}, p});
  }
}

#define INSTANTIATE(T)                                                       \
  template void variance(const Fold&, const T*, const double*, double, T*);  \
  template void deviation(const Fold&, const T*, const double*, double, T*); \
  template void logsumexp(const Fold&, const T*, T*);                        \
  template void norm_inf(const Fold&, const T*, T*);                         \
  template void norm_1(const Fold&, const T*, T*);                           \
  template void norm_p(const Fold&, const T*, double, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
