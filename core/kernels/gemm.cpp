// Matrix products by OpenBLAS, cut into tiles that our own threads share: each tile is one call
// that stays on its thread. Measured on 2 cores this beats OpenBLAS's own threads for small
// matrices and equals them for large ones.
#include "core/kernels/gemm.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/kernels/blas.h"
#include "core/kernels/parallel.h"

namespace gradzoo::kernels {
namespace {

// The arguments of cblas_sgemm, cblas_sgemv and their kin of doubles, and the constants they take.
template <class T>
using Gemm = void (*)(int order, int trans_a, int trans_b, int n, int m, int k, T alpha, const T* a,
                      int lda, const T* b, int ldb, T beta, T* c, int ldc);
template <class T>
using Gemv = void (*)(int order, int trans, int rows, int cols, T alpha, const T* a, int lda,
                      const T* x, int incx, T beta, T* y, int incy);
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

template <class T>
Gemm<T> blas_gemm() {
  static const auto function = reinterpret_cast<Gemm<T>>(
      blas_symbol(std::is_same_v<T, float> ? "cblas_sgemm" : "cblas_dgemm"));
  return function;
}

template <class T>
Gemv<T> blas_gemv() {
  static const auto function = reinterpret_cast<Gemv<T>>(
      blas_symbol(std::is_same_v<T, float> ? "cblas_sgemv" : "cblas_dgemv"));
  return function;
}

// Multiplications worth a trip to another thread, about 10 microseconds.
constexpr std::int64_t kBlockWork = std::int64_t{1} << 19;

// A batch of so many items is work for all threads without cutting the items.
constexpr std::int64_t kLargeBatch = 16;

struct Tiles {
  std::int64_t rows, cols;      // extents of a tile
  std::int64_t across, number;  // tiles side by side, and in all
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The extent of the pieces when `extent` is cut into at most `most`: powers of two, which an even
// number of threads shares evenly.
std::int64_t piece_of(std::int64_t extent, std::int64_t most) {
  const auto pieces = std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1)));
  return ceil_div(ceil_div(extent, static_cast<std::int64_t>(pieces)), 16) * 16;
}

// Panels along the longer side, each worth a trip. Each packs the whole other operand anew, hence
// no thinner than a quarter of the side unless that is more than 256. A shorter side that is long
// too is cut as well: there is then work for many threads.
Tiles tiles_of(std::int64_t n, std::int64_t m, std::int64_t k, std::int64_t batch) {
  if (batch >= kLargeBatch) return {n, m, 1, 1};
  const std::int64_t longer = std::max(n, m);
  const std::int64_t shorter = std::min(n, m);
  const std::int64_t thinnest = std::clamp<std::int64_t>(longer / 4, 32, 256);
  const std::int64_t panel =
      piece_of(longer, std::min(longer / thinnest, longer * shorter * k / kBlockWork));
  const std::int64_t other = piece_of(shorter, shorter / 768);
  Tiles tiles{n >= m ? panel : other, n >= m ? other : panel, 0, 0};
  tiles.across = ceil_div(m, tiles.cols);
  tiles.number = ceil_div(n, tiles.rows) * tiles.across;
  return tiles;
}

template <class T>
void fill(const Product<T>& p) {
  for (std::int64_t i = 0; i < p.n; ++i) {
    T* row = p.c + i * p.c_stride;
    if (p.bias == nullptr) {
      std::fill(row, row + p.m, T(0));
    } else {
      std::copy(p.bias, p.bias + p.m, row);
    }
  }
}

// y += M x, for M [rows, k].
template <class T>
void add_vector_product(const Matrix<T>& matrix, std::int64_t rows, std::int64_t k, const T* x,
                        std::int64_t x_stride, T* y, std::int64_t y_stride) {
  const bool plain = matrix.col_stride == 1;
  blas_gemv<T>()(kRowMajor, plain ? kNoTrans : kTrans, static_cast<int>(plain ? rows : k),
                 static_cast<int>(plain ? k : rows), T(1), matrix.data,
                 static_cast<int>(plain ? matrix.row_stride : matrix.col_stride), x,
                 static_cast<int>(x_stride), T(1), y, static_cast<int>(y_stride));
}

// One call of OpenBLAS. It never sees an empty extent: some releases leave C as it was. A single
// row or column is the business of gemv, which gemm takes up to ten times longer for; its result
// starts from zeros of ours, because some releases compute 0 * NaN with what y held.
template <class T>
void call_blas(const Product<T>& p) {
  const bool vector = p.n == 1 || p.m == 1;
  const bool onto_c = p.accumulate || p.bias != nullptr || vector || p.k == 0;
  if (onto_c && !p.accumulate) fill(p);
  if (p.k == 0) return;
  if (p.m == 1) {
    add_vector_product(p.a, p.n, p.k, p.b.data, p.b.row_stride, p.c, p.c_stride);
  } else if (p.n == 1) {
    const Matrix<T> transposed{p.b.data, p.b.col_stride, p.b.row_stride};
    add_vector_product(transposed, p.m, p.k, p.a.data, p.a.col_stride, p.c, 1);
  } else {
    const bool a_plain = p.a.col_stride == 1;
    const bool b_plain = p.b.col_stride == 1;
    blas_gemm<T>()(kRowMajor, a_plain ? kNoTrans : kTrans, b_plain ? kNoTrans : kTrans,
                   static_cast<int>(p.n), static_cast<int>(p.m), static_cast<int>(p.k), T(1),
                   p.a.data, static_cast<int>(a_plain ? p.a.row_stride : p.a.col_stride), p.b.data,
                   static_cast<int>(b_plain ? p.b.row_stride : p.b.col_stride), T(onto_c), p.c,
                   static_cast<int>(p.c_stride));
  }
}

template <class T>
Product<T> tile_of(Product<T> p, const Tiles& tiles, std::int64_t index) {
  const std::int64_t row = index / tiles.across * tiles.rows;
  const std::int64_t col = index % tiles.across * tiles.cols;
  p.n = std::min(tiles.rows, p.n - row);
  p.m = std::min(tiles.cols, p.m - col);
  p.a.data += row * p.a.row_stride;
  p.b.data += col * p.b.col_stride;
  p.c += row * p.c_stride + col;
  if (p.bias != nullptr) p.bias += col;
  return p;
}

}  // namespace

template <class T>
void gemm(const Walk<3>& batch, const Product<T>& product) {
  const std::int64_t n = product.n, m = product.m, k = product.k;
  if (batch.numel == 0 || n == 0 || m == 0) return;
  const Tiles tiles = tiles_of(n, m, std::max<std::int64_t>(k, 1), batch.numel);
  const std::int64_t items_a_trip = kBlockWork / (n * m * std::max<std::int64_t>(k, 1));
  const std::int64_t block = tiles.number > 1 ? 1 : std::max<std::int64_t>(1, items_a_trip);
  parallel_for(batch.numel * tiles.number, block, [&](std::int64_t task, std::int64_t end) {
    const OneThread guard;
    const std::int64_t first = task / tiles.number;
    const std::int64_t last = ceil_div(end, tiles.number);
    for_each_run(batch, first, last, [&](const auto& at, std::int64_t items) {
      for (std::int64_t i = 0; i < items; ++i) {
        Product<T> item = product;
        item.c += at[0] + i * batch.inner_stride(0);
        item.a.data += at[1] + i * batch.inner_stride(1);
        item.b.data += at[2] + i * batch.inner_stride(2);
        do {
          call_blas(tile_of(item, tiles, task % tiles.number));
        } while (++task < end && task % tiles.number != 0);
      }
    });
  });
}

template <class T>
void gemm_here(const Product<T>& product) {
  if (product.n == 0 || product.m == 0) return;
  const OneThread guard;
  call_blas(product);
}

template void gemm(const Walk<3>&, const Product<float>&);
template void gemm(const Walk<3>&, const Product<double>&);
template void gemm_here(const Product<float>&);
template void gemm_here(const Product<double>&);

}  // namespace gradzoo::kernels
