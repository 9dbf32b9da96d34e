// Arithmetic kernels of two arrays.
#include "core/kernels/binary.h"

#include <cmath>

#include "core/kernels/map.h"

namespace gradzoo::kernels {

template <class T>
void add(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return static_cast<T>(Wrapping<T>(u) + Wrapping<T>(v)); });
}

template <class T>
void sub(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return static_cast<T>(Wrapping<T>(u) - Wrapping<T>(v)); });
}

template <class T>
void mul(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return static_cast<T>(Wrapping<T>(u) * Wrapping<T>(v)); });
}

template <class T>
void div(const Walk<3>& walk, const T* a, const T* b, T* y) {
  if constexpr (std::is_integral_v<T>) {
    // The least integer over -1 would trap in the processor.
    map(walk, a, b, y, [](T u, T v) { return v == -1 ? static_cast<T>(-Wrapping<T>(u)) : u / v; });
  } else {
    map(walk, a, b, y, [](T u, T v) { return u / v; });
  }
}

template <class T>
void pow(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return std::pow(u, v); });
}

template <class T>
void pow(const Walk<2>& walk, const T* a, T* y, double exponent) {
  // The exponents met in practice, and one less for their gradients, are vector code.
  if (exponent == 1) {
    map(walk, a, y, [](T u) { return u; });
  } else if (exponent == 2) {
    map(walk, a, y, [](T u) { return u * u; });
  } else if (exponent == 3) {
    map(walk, a, y, [](T u) { return u * u * u; });
  } else {
    map(walk, a, y, [v = static_cast<T>(exponent)](T u) { return std::pow(u, v); });
  }
}

// A NaN in a makes the comparison false and is taken; one in b is taken because v != v.
template <class T>
void maximum(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return u < v || v != v ? v : u; });
}

template <class T>
void minimum(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return u > v || v != v ? v : u; });
}

bool contains_zero(const Walk<1>& walk, const std::int64_t* x) {
  bool found = false;
  for_each_run(walk, 0, walk.numel, [&](const auto& at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) found |= x[at[0] + i * walk.inner_stride(0)] == 0;
  });
  return found;
}

// Explicit instantiation: the header stays free of loops.
#define INSTANTIATE_ARITHMETIC(T)                                \
  template void add(const Walk<3>&, const T*, const T*, T*);     \
  template void sub(const Walk<3>&, const T*, const T*, T*);     \
  template void mul(const Walk<3>&, const T*, const T*, T*);     \
  template void div(const Walk<3>&, const T*, const T*, T*);     \
  template void maximum(const Walk<3>&, const T*, const T*, T*); \
  template void minimum(const Walk<3>&, const T*, const T*, T*);
INSTANTIATE_ARITHMETIC(float)
INSTANTIATE_ARITHMETIC(double)
INSTANTIATE_ARITHMETIC(std::int64_t)
#undef INSTANTIATE_ARITHMETIC

template void pow(const Walk<3>&, const float*, const float*, float*);
template void pow(const Walk<3>&, const double*, const double*, double*);
template void pow(const Walk<2>&, const float*, float*, double);
template void pow(const Walk<2>&, const double*, double*, double);

}  // namespace gradzoo::kernels
