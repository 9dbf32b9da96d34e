// Elementwise kernels of one array.
#include "core/kernels/unary.h"

#include <cmath>

#include "core/kernels/map.h"

namespace gradzoo::kernels {

template <class T>
void neg(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return -v; });
}

template <class T>
void exp(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::exp(v); });
}

template <class T>
void relu(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return v > 0 || v != v ? v : T(0); });
}

#define INSTANTIATE(T)                             \
  template void neg(const Walk<2>&, const T*, T*); \
  template void exp(const Walk<2>&, const T*, T*); \
  template void relu(const Walk<2>&, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
