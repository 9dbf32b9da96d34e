// Dropping elements and scaling the others.
#include "core/kernels/dropout.h"

#include "core/kernels/map.h"

namespace gradzoo::kernels {

// `kept` is read as bytes, for GCC makes no vectors of bool; and x in any case, for no branch.
template <class T>
GRADZOO_SIMD void scale_kept_run(const T* x, const unsigned char* kept, T scale, std::int64_t n,
                                 T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const T scaled = x[i] * scale;
    y[i] = kept[i] != 0 ? scaled : T(0);
  }
}

template <class T>
void scale_kept(const T* x, const bool* kept, T scale, std::int64_t n, T* y) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(kept);
  parallel_for(n, kMapBlock, [&](std::int64_t begin, std::int64_t end) {
    scale_kept_run(x + begin, bytes + begin, scale, end - begin, y + begin);
  });
}

#define INSTANTIATE(T) template void scale_kept(const T*, const bool*, T, std::int64_t, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
