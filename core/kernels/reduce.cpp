// Reductions of a strided array along some of its axes: sums, products, extrema, logic.
#include "core/kernels/reduce.h"

#include <limits>
#include <type_traits>

#include "core/kernels/fold.h"

namespace gradzoo::kernels {
namespace {

template <class X, class Y>
struct Sum : Adding<X> {
  using typename Adding<X>::Acc;
  GRADZOO_INLINE Acc of(X x, None) const { return static_cast<Acc>(x); }
  GRADZOO_INLINE Y finish(Acc a, None) const { return static_cast<Y>(a); }
};

template <class X, class Y>
struct Mean : Sum<X, Y> {
  double count;
  GRADZOO_INLINE Y finish(double a, None) const { return static_cast<Y>(a / count); }
};

template <class T>
struct Prod {
  using Acc = typename Adding<T>::Acc;
  static constexpr bool kShifted = false;
  GRADZOO_INLINE Acc identity() const { return 1; }
  GRADZOO_INLINE Acc of(T x, None) const { return static_cast<Acc>(x); }
  GRADZOO_INLINE Acc join(Acc a, Acc b) const { return a * b; }
  GRADZOO_INLINE T finish(Acc a, None) const { return static_cast<T>(a); }
};

template <class T>
struct Min {
  using Acc = T;
  static constexpr bool kShifted = false;
  GRADZOO_INLINE T identity() const {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  GRADZOO_INLINE T of(T x, None) const { return x; }
  GRADZOO_INLINE T join(T a, T b) const {
    const T smaller = a < b ? a : b;  // b when either is NaN
    return is_nan(a) ? a : smaller;
  }
  GRADZOO_INLINE T finish(T a, None) const { return a; }
};

struct Any {
  using Acc = std::uint8_t;
  static constexpr bool kShifted = false;
  GRADZOO_INLINE Acc identity() const { return 0; }
  GRADZOO_INLINE Acc of(bool x, None) const { return x; }
  GRADZOO_INLINE Acc join(Acc a, Acc b) const { return a | b; }
  GRADZOO_INLINE bool finish(Acc a, None) const { return a != 0; }
};

struct All {
  using Acc = std::uint8_t;
  static constexpr bool kShifted = false;
  GRADZOO_INLINE Acc identity() const { return 1; }
  GRADZOO_INLINE Acc of(bool x, None) const { return x; }
  GRADZOO_INLINE Acc join(Acc a, Acc b) const { return a & b; }
  GRADZOO_INLINE bool finish(Acc a, None) const { return a != 0; }
};

}  // namespace

template <class X, class Y>
void sum(const Fold& fold, const X* x, Y* y) {
  fold_plain(fold, x, y, Sum<X, Y>{});
}

template <class X, class Y>
void mean(const Fold& fold, const X* x, Y* y) {
  fold_plain(fold, x, y, Mean<X, Y>{{}, static_cast<double>(fold.inner.numel)});
}

template <class T>
void prod(const Fold& fold, const T* x, T* y) {
  fold_plain(fold, x, y, Prod<T>{});
}

template <class T>
void max(const Fold& fold, const T* x, T* y) {
  fold_plain(fold, x, y, Max<T>{});
}

template <class T>
void min(const Fold& fold, const T* x, T* y) {
  fold_plain(fold, x, y, Min<T>{});
}

void any(const Fold& fold, const bool* x, bool* y) { fold_plain(fold, x, y, Any{}); }

void all(const Fold& fold, const bool* x, bool* y) { fold_plain(fold, x, y, All{}); }

template <class T>
void find(const Fold& fold, const T* x, const T* value, std::int64_t* y) {
  const std::int64_t n = fold.inner.numel;
  const std::int64_t block = std::max<std::int64_t>(1, kFoldBlock / std::max<std::int64_t>(n, 1));
  parallel_for(fold.outer.numel, block, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const T wanted = value[i];
      std::int64_t start = 0;
      for_each_run(fold.outer, i, i + 1, [&](const auto& at, std::int64_t) { start = at[0]; });
      std::int64_t position = 0;
      std::int64_t found = n;
      for_each_run(fold.inner, 0, n, [&](const auto& at, std::int64_t count) {
        const T* run = x + start + at[0];
        for (std::int64_t k = 0; k < count && found == n; ++k) {
          const T v = run[k * fold.inner.inner_stride(0)];
          if (v == wanted || (is_nan(v) && is_nan(wanted))) found = position + k;
        }
        position += count;
      });
      y[i] = found;
    }
  });
}

#define INSTANTIATE(T)                           \
  template void sum(const Fold&, const T*, T*);  \
  template void prod(const Fold&, const T*, T*); \
  template void max(const Fold&, const T*, T*);  \
  template void min(const Fold&, const T*, T*);  \
  template void find(const Fold&, const T*, const T*, std::int64_t*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE
template void sum(const Fold&, const bool*, std::int64_t*);
template void mean(const Fold&, const float*, float*);
template void mean(const Fold&, const float*, double*);
template void mean(const Fold&, const double*, double*);

}  // namespace gradzoo::kernels
