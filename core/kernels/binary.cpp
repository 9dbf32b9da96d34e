// Elementwise kernels of two arrays.
#include "core/kernels/binary.h"

#include "core/kernels/map.h"

namespace gradzoo::kernels {

template <class T>
void add(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return static_cast<T>(u + v); });
}

template <class T>
void sub(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return static_cast<T>(u - v); });
}

template <class T>
void mul(const Walk<3>& walk, const T* a, const T* b, T* y) {
  map(walk, a, b, y, [](T u, T v) { return static_cast<T>(u * v); });
}

// Explicit instantiation: the header stays free of loops.
#define INSTANTIATE(T)                                       \
  template void add(const Walk<3>&, const T*, const T*, T*); \
  template void sub(const Walk<3>&, const T*, const T*, T*); \
  template void mul(const Walk<3>&, const T*, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
