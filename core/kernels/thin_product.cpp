// Products of a few rows with a packed matrix: tiles of sums that stay in registers while they run
// down a panel. Four of them hide the latency of a multiplication: four rows of one panel or, where
// there are no four rows, fewer rows of more panels.
#include "core/kernels/thin_product.h"

#include <algorithm>

#include "core/kernels/simd.h"

namespace gradzoo::kernels {
namespace {

constexpr std::int64_t kPanels = 4;  // their number is a multiple of it

template <class T>
constexpr std::int64_t kWidth = 64 / sizeof(T);  // of a panel: one register of AVX-512, two of AVX2

template <std::int64_t kRows, class T>
GRADZOO_INLINE void tile(const ThinProduct<T>& p, std::int64_t row, std::int64_t panel) {
  constexpr std::int64_t kAcross = kPanels / kRows;
  constexpr std::int64_t kW = kWidth<T>;
  T sums[kPanels][kW] = {};
  const T* a = p.a + row * p.a_stride;
  const T* b = p.packed + panel * p.k * kW;
  for (std::int64_t i = 0; i < p.k; ++i, b += kW) {
    for (std::int64_t r = 0; r < kRows; ++r) {
      const T x = a[r * p.a_stride + i];
      for (std::int64_t q = 0; q < kAcross; ++q) {
#pragma omp simd
        for (std::int64_t j = 0; j < kW; ++j) sums[r * kAcross + q][j] += x * b[q * p.k * kW + j];
      }
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t q = 0; q < kAcross; ++q) {
      const std::int64_t col = (panel + q) * kW, cols = std::min(kW, p.m - col);
      const T* sum = sums[r * kAcross + q];
      const T* init = p.init == nullptr ? nullptr : p.init + (row + r) * p.init_stride + col;
      T* c = p.c + (row + r) * p.c_stride + col;
      for (std::int64_t j = 0; j < cols; ++j) c[j] = init == nullptr ? sum[j] : init[j] + sum[j];
    }
  }
}

std::int64_t panels(std::int64_t m, std::int64_t width) {
  return (m + kPanels * width - 1) / (kPanels * width) * kPanels;
}

template <class T>
GRADZOO_SIMD void multiply(const ThinProduct<T>& p) {
  const std::int64_t fours = p.n / 4 * 4;
  for (std::int64_t panel = 0; panel < panels(p.m, kWidth<T>); panel += kPanels) {
    for (std::int64_t i = 0; i < fours; i += 4) {
      for (std::int64_t q = 0; q < kPanels; ++q) tile<4>(p, i, panel + q);
    }
    std::int64_t i = fours;
    if (i + 2 <= p.n) {
      tile<2>(p, i, panel);
      tile<2>(p, i, panel + 2);
      i += 2;
    }
    if (i < p.n) tile<1>(p, i, panel);
  }
}

}  // namespace

template <class T>
std::int64_t packed_size(std::int64_t k, std::int64_t m) {
  return panels(m, kWidth<T>) * kWidth<T> * k;
}

template <class T>
void pack_panels(const Matrix<T>& b, std::int64_t k, std::int64_t m, T* packed) {
  constexpr std::int64_t kW = kWidth<T>;
  for (std::int64_t panel = 0; panel < panels(m, kW); ++panel, packed += k * kW) {
    const std::int64_t cols = std::clamp<std::int64_t>(m - panel * kW, 0, kW);
    const T* from = b.data + panel * kW * b.col_stride;
    if (cols < kW) std::fill(packed, packed + k * kW, T(0));
    if (b.col_stride == 1) {  // along the rows of memory either way
      for (std::int64_t i = 0; i < k; ++i) {
        std::copy(from + i * b.row_stride, from + i * b.row_stride + cols, packed + i * kW);
      }
    } else {
      for (std::int64_t j = 0; j < cols; ++j) {
        const T* column = from + j * b.col_stride;
        for (std::int64_t i = 0; i < k; ++i) packed[i * kW + j] = column[i * b.row_stride];
      }
    }
  }
}

template <class T>
void thin_product(const ThinProduct<T>& product) {
  multiply(product);
}

#define INSTANTIATE(T)                                                         \
  template std::int64_t packed_size<T>(std::int64_t, std::int64_t);            \
  template void pack_panels(const Matrix<T>&, std::int64_t, std::int64_t, T*); \
  template void thin_product(const ThinProduct<T>&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
