// Softmax and its logarithm over contiguous rows. Every function works in passes over a block of
// rows: 1. subtract each row's maximum, 2. exponentials of the whole block at once (rows are often
// shorter than a vector register), 3. sum and divide each row. Sums are kept in double.
#include "core/kernels/softmax.h"

#include <cmath>

#include "core/kernels/rows.h"

namespace gradzoo::kernels {
// y = x where the mask is true, else -inf. Row r of the mask starts at mask + r * row_step; it is
// read as bytes, for GCC makes no vectors of bool.
template <class T>
GRADZOO_SIMD void select_rows(const T* x, const unsigned char* mask, std::int64_t row_step,
                              std::int64_t step, std::int64_t rows, std::int64_t n, T* y) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n, mask += row_step) {
    if (step == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) {
        const T value = x[i];  // read in any case: without a branch it becomes vector code
        y[i] = mask[i] != 0 ? value : kNothing<T>;
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) y[i] = mask[i * step] != 0 ? x[i] : kNothing<T>;
    }
  }
}

// y = x - max(x), row by row. Masked: a row of -inf stays one.
template <bool kMasked, class T>
GRADZOO_SIMD void shift_rows(const T* x, std::int64_t rows, std::int64_t n, T* y) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T most = row_max(x, n);
    const T shift = kMasked && most == kNothing<T> ? T(0) : most;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] - shift;
  }
}

// y = y / sum(y). Masked: a sum of 0 leaves zeros, and zeros stay zeros beside a NaN.
template <bool kMasked, class T>
GRADZOO_SIMD void divide_rows(T* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, y += n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(y[i]);
    const T scale = static_cast<T>(1 / sum);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = kMasked && y[i] == T(0) ? T(0) : y[i] * scale;
  }
}

// y = y - log(sum(exp(y))). Masked: -inf stays -inf, whatever the sum is.
template <bool kMasked, class T>
GRADZOO_SIMD void subtract_log_sums(T* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, y += n) {
    const double sum = sum_exp(y, T(0), n);
    const T log_sum = static_cast<T>(std::log(sum));
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = kMasked && y[i] == kNothing<T> ? kNothing<T> : y[i] - log_sum;
    }
  }
}

template <class T>
GRADZOO_SIMD void softmax_backward_rows(const T* y, const T* g, std::int64_t rows, std::int64_t n,
                                        T* dx) {
  for (std::int64_t r = 0; r < rows; ++r, y += n, g += n, dx += n) {
    double dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t i = 0; i < n; ++i) {
      dot += y[i] == T(0) ? 0.0 : static_cast<double>(y[i] * g[i]);
    }
    const T mean = static_cast<T>(dot);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] == T(0) ? T(0) : y[i] * (g[i] - mean);
  }
}

template <bool kMasked, class T>
GRADZOO_SIMD void log_softmax_backward_rows(const T* y, const T* g, std::int64_t rows,
                                            std::int64_t n, T* dx) {
  exp_block(y, rows * n, dx);
  for (std::int64_t r = 0; r < rows; ++r, y += n, g += n, dx += n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) {
      sum += kMasked && y[i] == kNothing<T> ? 0.0 : static_cast<double>(g[i]);
    }
    const T total = static_cast<T>(sum);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      dx[i] = kMasked && y[i] == kNothing<T> ? T(0) : g[i] - dx[i] * total;
    }
  }
}

namespace {

// Rows [begin, end): a pass of its own, for what a row's maximum is read from must have reached the
// cache, or the processor waits for it.
template <class T>
void shift_masked_block(const T* x, const RowMask& mask, std::int64_t begin, std::int64_t end,
                        std::int64_t n, T* y) {
  std::int64_t row = begin;
  const std::int64_t row_step = mask.rows.inner_stride(0);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(mask.data);
  for_each_run(mask.rows, begin, end, [&](const auto& at, std::int64_t rows) {
    select_rows(x + row * n, bytes + at[0], row_step, mask.step, rows, n, y + row * n);
    row += rows;
  });
  shift_rows<true>(y + begin * n, end - begin, n, y + begin * n);
}

}  // namespace

template <class T>
void softmax(const T* x, std::int64_t rows, std::int64_t n, T* y) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    T* const out = y + begin * n;
    shift_rows<false>(x + begin * n, end - begin, n, out);
    exp_block(out, (end - begin) * n, out);
    divide_rows<false>(out, end - begin, n);
  });
}

template <class T>
void masked_softmax(const T* x, const RowMask& mask, std::int64_t n, T* y) {
  parallel_for(mask.rows.numel, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    T* const out = y + begin * n;
    shift_masked_block(x, mask, begin, end, n, y);
    exp_block(out, (end - begin) * n, out);
    divide_rows<true>(out, end - begin, n);
  });
}

template <class T>
void log_softmax(const T* x, std::int64_t rows, std::int64_t n, T* y) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    shift_rows<false>(x + begin * n, end - begin, n, y + begin * n);
    subtract_log_sums<false>(y + begin * n, end - begin, n);
  });
}

template <class T>
void masked_log_softmax(const T* x, const RowMask& mask, std::int64_t n, T* y) {
  parallel_for(mask.rows.numel, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    shift_masked_block(x, mask, begin, end, n, y);
    subtract_log_sums<true>(y + begin * n, end - begin, n);
  });
}

template <class T>
void softmax_backward(const T* y, const T* g, std::int64_t rows, std::int64_t n, T* dx) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    softmax_backward_rows(y + begin * n, g + begin * n, end - begin, n, dx + begin * n);
  });
}

template <class T>
void log_softmax_backward(const T* y, const T* g, std::int64_t rows, std::int64_t n, T* dx) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    log_softmax_backward_rows<false>(y + begin * n, g + begin * n, end - begin, n, dx + begin * n);
  });
}

template <class T>
void masked_log_softmax_backward(const T* y, const T* g, std::int64_t rows, std::int64_t n, T* dx) {
  parallel_for(rows, block_rows(n), [&](std::int64_t begin, std::int64_t end) {
    log_softmax_backward_rows<true>(y + begin * n, g + begin * n, end - begin, n, dx + begin * n);
  });
}

#define INSTANTIATE(T)                                                                    \
  template void softmax(const T*, std::int64_t, std::int64_t, T*);                        \
  template void masked_softmax(const T*, const RowMask&, std::int64_t, T*);               \
  template void log_softmax(const T*, std::int64_t, std::int64_t, T*);                    \
  template void masked_log_softmax(const T*, const RowMask&, std::int64_t, T*);           \
  template void softmax_backward(const T*, const T*, std::int64_t, std::int64_t, T*);     \
  template void log_softmax_backward(const T*, const T*, std::int64_t, std::int64_t, T*); \
  template void masked_log_softmax_backward(const T*, const T*, std::int64_t, std::int64_t, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
