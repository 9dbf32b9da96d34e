// Picking, adding and ordering by index.
#include "core/kernels/index.h"

#include <algorithm>
#include <numeric>

#include "core/kernels/map.h"

namespace gradzoo::kernels {
namespace {

template <class T>
GRADZOO_SIMD void add_row(std::int64_t n, const T* x, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];
}

std::int64_t lines_per_block(std::int64_t length) {
  return std::max<std::int64_t>(1, kMapBlock / std::max<std::int64_t>(1, length));
}

// Calls visit(offsets of a line's start) for every line.
template <class Visit>
void for_lines(const Lines& lines, const Visit& visit) {
  const Walk<3>& walk = lines.walk;
  parallel_for(walk.numel, lines_per_block(lines.length),
               [&](std::int64_t begin, std::int64_t end) {
                 for_each_run(walk, begin, end, [&](auto at, std::int64_t n) {
                   for (std::int64_t i = 0; i < n; ++i) {
                     visit(at);
                     for (std::size_t k = 0; k < 3; ++k)
                       at[k] += walk.inner_stride(static_cast<int>(k));
                   }
                 });
               });
}

template <class T>
bool above(T a, T b) {
  return a > b || (a != a && b == b);
}

}  // namespace

std::int64_t find_outside(const std::int64_t* index, std::int64_t n, std::int64_t low,
                          std::int64_t high) {
  return std::find_if(index, index + n, [&](std::int64_t i) { return i < low || i >= high; }) -
         index;
}

template <class T>
void take_rows(const Rows& rows, const std::int64_t* index, const T* x, T* y) {
  parallel_for(rows.outer * rows.count, lines_per_block(rows.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t from =
                       row / rows.count * rows.extent + index[row % rows.count];
                   std::copy_n(x + from * rows.inner, rows.inner, y + row * rows.inner);
                 }
               });
}

template <class T>
void add_rows(const Rows& rows, const std::int64_t* index, const T* x, T* y) {
  // Each piece of work owns some of the rows of y and looks through all indices for them, so that
  // equal indices are added in one order. It pays when there is enough to add.
  const std::int64_t pieces = rows.count * rows.inner < 2 * kMapBlock ? 1 : 8;
  const std::int64_t share = (rows.extent + pieces - 1) / pieces;
  parallel_for(rows.outer * pieces, 1, [&](std::int64_t piece, std::int64_t) {
    const std::int64_t outer = piece / pieces;
    const std::int64_t low = piece % pieces * share, high = low + share;
    for (std::int64_t j = 0; j < rows.count; ++j) {
      if (index[j] < low || index[j] >= high) continue;
      add_row(rows.inner, x + (outer * rows.count + j) * rows.inner,
              y + (outer * rows.extent + index[j]) * rows.inner);
    }
  });
}

template <class T>
void gather(const Lines& lines, const std::int64_t* index, const T* x, T* y) {
  for_lines(lines, [&](const auto& at) {
    for (std::int64_t j = 0; j < lines.length; ++j) {
      const std::int64_t from = index[at[1] + j * lines.step[1]];
      y[at[0] + j * lines.step[0]] = x[at[2] + from * lines.step[2]];
    }
  });
}

template <class T>
void scatter_add(const Lines& lines, const std::int64_t* index, const T* x, T* y) {
  for_lines(lines, [&](const auto& at) {
    for (std::int64_t j = 0; j < lines.length; ++j) {
      const std::int64_t into = index[at[1] + j * lines.step[1]];
      y[at[2] + into * lines.step[2]] += x[at[0] + j * lines.step[0]];
    }
  });
}

template <class T>
void order(std::int64_t count, std::int64_t n, std::int64_t k, bool largest, const T* x,
           std::int64_t* index) {
  parallel_for(count, lines_per_block(n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const T* values = x + line * n;
      std::int64_t* first = index + line * k;
      std::int64_t* last = first + k;
      const auto before = [&](std::int64_t a, std::int64_t b) {
        if (above(values[a], values[b])) return largest;
        if (above(values[b], values[a])) return !largest;
        return a < b;
      };
      std::iota(first, last, 0);
      if (k == n || k == 0) {
        std::sort(first, last, before);
        continue;
      }
      // A heap of the k best so far, the worst of them on top.
      std::make_heap(first, last, before);
      for (std::int64_t i = k; i < n; ++i) {
        if (!before(i, *first)) continue;
        std::pop_heap(first, last, before);
        last[-1] = i;
        std::push_heap(first, last, before);
      }
      std::sort_heap(first, last, before);
    }
  });
}

#define INSTANTIATE_PICK(T)                                                \
  template void take_rows(const Rows&, const std::int64_t*, const T*, T*); \
  template void gather(const Lines&, const std::int64_t*, const T*, T*);
#define INSTANTIATE(T)                                                        \
  INSTANTIATE_PICK(T)                                                         \
  template void add_rows(const Rows&, const std::int64_t*, const T*, T*);     \
  template void scatter_add(const Lines&, const std::int64_t*, const T*, T*); \
  template void order(std::int64_t, std::int64_t, std::int64_t, bool, const T*, std::int64_t*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::int64_t)
INSTANTIATE_PICK(bool)
#undef INSTANTIATE
#undef INSTANTIATE_PICK

}  // namespace gradzoo::kernels
