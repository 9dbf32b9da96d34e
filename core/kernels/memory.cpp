// Copy and fill.
#include "core/kernels/memory.h"

#include <algorithm>

#include "core/kernels/map.h"

namespace gradzoo::kernels {

template <class T>
void copy(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return v; });
}

template <class T>
void fill(T* y, std::int64_t n, T value) {
  parallel_for(n, kMapBlock,
               [&](std::int64_t begin, std::int64_t end) { std::fill(y + begin, y + end, value); });
}

#define INSTANTIATE(T)                              \
  template void copy(const Walk<2>&, const T*, T*); \
  template void fill(T*, std::int64_t, T);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
INSTANTIATE(bool)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
