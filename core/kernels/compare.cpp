// Kernels that compare, combine and select by truth values.
#include "core/kernels/compare.h"

#include "core/kernels/map.h"

namespace gradzoo::kernels {
namespace {

// GCC does not vectorise a selection by bool, but one by bytes.
using Truth = unsigned char;
const Truth* truth(const bool* x) { return reinterpret_cast<const Truth*>(x); }

}  // namespace

template <class T>
void eq(const Walk<3>& walk, const T* a, const T* b, bool* y) {
  map(walk, a, b, y, [](T u, T v) { return u == v; });
}

template <class T>
void ne(const Walk<3>& walk, const T* a, const T* b, bool* y) {
  map(walk, a, b, y, [](T u, T v) { return u != v; });
}

template <class T>
void lt(const Walk<3>& walk, const T* a, const T* b, bool* y) {
  map(walk, a, b, y, [](T u, T v) { return u < v; });
}

template <class T>
void le(const Walk<3>& walk, const T* a, const T* b, bool* y) {
  map(walk, a, b, y, [](T u, T v) { return u <= v; });
}

template <class T>
void gt(const Walk<3>& walk, const T* a, const T* b, bool* y) {
  map(walk, a, b, y, [](T u, T v) { return u > v; });
}

template <class T>
void ge(const Walk<3>& walk, const T* a, const T* b, bool* y) {
  map(walk, a, b, y, [](T u, T v) { return u >= v; });
}

void logical_and(const Walk<3>& walk, const bool* a, const bool* b, bool* y) {
  map(walk, a, b, y, [](bool u, bool v) { return u && v; });
}

void logical_or(const Walk<3>& walk, const bool* a, const bool* b, bool* y) {
  map(walk, a, b, y, [](bool u, bool v) { return u || v; });
}

void logical_not(const Walk<2>& walk, const bool* a, bool* y) {
  map(walk, a, y, [](bool u) { return !u; });
}

template <class T>
void where(const Walk<4>& walk, const bool* condition, const T* a, const T* b, T* y) {
  map(walk, truth(condition), a, b, y, [](Truth c, T u, T v) { return c != 0 ? u : v; });
}

template <class T>
void masked_fill(const Walk<3>& walk, const T* x, const bool* mask, T* y, T value) {
  map(walk, x, truth(mask), y, [value](T u, Truth m) { return m != 0 ? value : u; });
}

#define INSTANTIATE(T)                                                      \
  template void eq(const Walk<3>&, const T*, const T*, bool*);              \
  template void ne(const Walk<3>&, const T*, const T*, bool*);              \
  template void lt(const Walk<3>&, const T*, const T*, bool*);              \
  template void le(const Walk<3>&, const T*, const T*, bool*);              \
  template void gt(const Walk<3>&, const T*, const T*, bool*);              \
  template void ge(const Walk<3>&, const T*, const T*, bool*);              \
  template void where(const Walk<4>&, const bool*, const T*, const T*, T*); \
  template void masked_fill(const Walk<3>&, const T*, const bool*, T*, T);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
INSTANTIATE(bool)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
