// The columns of a part of the windows fit the cache, so they are made, used and forgotten there.
// Each thread has its own. Where a window is one element, the image itself is the columns.
#include "core/kernels/convolution.h"

#include <algorithm>

#include "core/kernels/depthwise.h"
#include "core/kernels/gemm.h"
#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/window_runs.h"

namespace gradzoo::kernels {

template <class T>
GRADZOO_SIMD void add_numbers(const T* x, std::int64_t n, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];
}

namespace {

constexpr std::int64_t kScratch = std::int64_t{1} << 16;   // elements of the columns in cache
constexpr std::int64_t kLaneWork = std::int64_t{1} << 18;  // multiplications worth a thread
constexpr std::int64_t kParts = 8;  // for the gradient of the weight, which threads share
constexpr std::int64_t kLargestParts = std::int64_t{1} << 22;  // elements of them all

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// What follows from the extents.
struct Sizes {
  explicit Sizes(const Convolution& c)
      : plane(product(c.windows.plane)),
        windows(product(c.windows.count)),
        elements(product(c.windows.kernel)),
        terms(c.windows.planes * elements),
        weight(c.outputs * terms),
        direct(elements == 1 && plane == windows && product(c.windows.stride) == 1),
        line(c.windows.count[0] > 1 ? c.windows.count[1] : 1),
        lines(windows / line) {
    const std::int64_t wanted =
        std::clamp<std::int64_t>(kScratch / std::max<std::int64_t>(terms, 1), 128, 512);
    part = std::clamp<std::int64_t>(wanted / line, 1, lines);
    parts = ceil_div(lines, part);
    // Channels of one task of the adjoint: all, unless there are too few images for the threads.
    const std::int64_t images = std::max<std::int64_t>(c.batch * c.groups, 1);
    const std::int64_t pieces = images >= kParts ? 1 : ceil_div(kParts, images);
    channels = std::max<std::int64_t>(ceil_div(c.windows.planes, pieces), 1);
  }
  std::int64_t plane, windows, elements, terms, weight;
  bool direct;         // a window is one element, and the windows are the plane
  std::int64_t line;   // windows of a line: those of a row, or one where there is but one row
  std::int64_t lines;  // of windows in a plane
  std::int64_t part;   // lines taken at a time
  std::int64_t parts;  // of a plane
  std::int64_t channels;
};

// One channel, one kernel: too little for a product of matrices.
bool is_depthwise(const Convolution& c) { return c.windows.planes == 1 && c.outputs == 1; }

// f(task, lane) for each task, on `lanes` threads.
template <class F>
void on_lanes(std::int64_t tasks, std::int64_t lanes, const F& f) {
  parallel_for(lanes, 1, [&](std::int64_t lane, std::int64_t end) {
    for (; lane < end; ++lane) {
      for (std::int64_t i = tasks * lane / lanes; i < tasks * (lane + 1) / lanes; ++i) f(i, lane);
    }
  });
}

// The columns [terms, windows of lines begin to end) of the planes at x, as a matrix.
template <class T>
Matrix<T> columns_of(const Convolution& c, const Sizes& s, const T* x, std::int64_t begin,
                     std::int64_t end, T* scratch) {
  if (s.direct) return {x + begin * s.line, s.windows, 1};
  unfold_here(part_of(c.windows, begin, end), x, scratch);
  return {scratch, (end - begin) * s.line, 1};
}

// The transpose of a matrix of so many rows that lie one after the other.
template <class T>
Matrix<T> transposed(const Matrix<T>& m, std::int64_t rows) {
  if (m.row_stride == 1) return {m.data, rows, 1};
  return {m.data, 1, m.row_stride};
}

}  // namespace

ConvolutionPlan plan_of(const Convolution& c) {
  if (is_depthwise(c)) return {.lanes = 1, .scratch = 0, .parts = 1, .memory = 0};
  const Sizes s(c);
  const std::int64_t images = c.batch * c.groups;
  const std::int64_t worth = images * s.windows * std::max<std::int64_t>(s.weight, 1) / kLaneWork;
  const std::int64_t most = kLargestParts / std::max<std::int64_t>(c.groups * s.weight, 1);
  ConvolutionPlan p;
  p.lanes = std::clamp<std::int64_t>(worth, 1, num_threads());
  p.scratch = s.direct ? 0 : s.terms * s.part * s.line;
  const std::int64_t wanted = ceil_div(kParts, std::max<std::int64_t>(c.groups, 1));
  p.parts = std::max<std::int64_t>(std::min({most, c.batch * s.parts, wanted}), 1);
  p.memory = p.lanes * p.scratch + (p.parts - 1) * c.groups * s.weight;
  return p;
}

template <class T>
void convolve(const Convolution& c, const ConvolutionPlan& p, const T* x, const T* weight,
              const T* bias, T* y, T* scratch) {
  if (is_depthwise(c)) return depthwise(c.windows, c.batch, c.groups, x, weight, bias, y);
  const Sizes s(c);
  on_lanes(c.batch * c.groups * s.parts, p.lanes, [&](std::int64_t task, std::int64_t lane) {
    const std::int64_t image = task / s.parts, group = image % c.groups;
    const std::int64_t begin = task % s.parts * s.part, end = std::min(begin + s.part, s.lines);
    const std::int64_t n = (end - begin) * s.line;
    T* const out = y + image * c.outputs * s.windows + begin * s.line;
    for (std::int64_t i = 0; bias != nullptr && i < c.outputs; ++i) {
      std::fill_n(out + i * s.windows, n, bias[group * c.outputs + i]);
    }
    gemm_here<T>({.n = c.outputs,
                  .m = n,
                  .k = s.terms,
                  .a = {weight + group * s.weight, s.terms, 1},
                  .b = columns_of(c, s, x + image * c.windows.planes * s.plane, begin, end,
                                  scratch + lane * p.scratch),
                  .c = out,
                  .c_stride = s.windows,
                  .accumulate = bias != nullptr});
  });
}

template <class T>
void convolve_adjoint(const Convolution& c, const ConvolutionPlan& p, const T* y, const T* weight,
                      T* x, T* scratch) {
  if (is_depthwise(c)) return depthwise_adjoint(c.windows, c.batch, c.groups, y, weight, x);
  const Sizes s(c);
  const std::int64_t pieces = ceil_div(c.windows.planes, s.channels);
  on_lanes(c.batch * c.groups * pieces, p.lanes, [&](std::int64_t task, std::int64_t lane) {
    const std::int64_t image = task / pieces, first = task % pieces * s.channels;
    const std::int64_t channels = std::min(s.channels, c.windows.planes - first);
    T* const planes = x + (image * c.windows.planes + first) * s.plane;
    T* const columns = scratch + lane * p.scratch;
    if (!s.direct) std::fill_n(planes, channels * s.plane, T(0));
    const T* const w = weight + image % c.groups * s.weight + first * s.elements;
    for (std::int64_t begin = 0; begin < s.lines; begin += s.part) {
      const std::int64_t end = std::min(begin + s.part, s.lines), n = (end - begin) * s.line;
      gemm_here<T>({.n = channels * s.elements,
                    .m = n,
                    .k = c.outputs,
                    .a = transposed<T>({w, s.terms, 1}, c.outputs),
                    .b = {y + image * c.outputs * s.windows + begin * s.line, s.windows, 1},
                    .c = s.direct ? planes + begin * s.line : columns,
                    .c_stride = s.direct ? s.windows : n});
      if (s.direct) continue;
      Windows part = part_of(c.windows, begin, end);
      part.planes = channels;
      fold_here(part, columns, planes);
    }
  });
}

template <class T>
void convolve_weight(const Convolution& c, const ConvolutionPlan& p, const T* x, const T* y,
                     T* weight, T* scratch) {
  if (is_depthwise(c)) return depthwise_weight(c.windows, c.batch, c.groups, x, y, weight);
  const Sizes s(c);
  const std::int64_t units = c.batch * s.parts, size = c.groups * s.weight;
  T* const more = scratch + p.lanes * p.scratch;  // all parts but the first
  on_lanes(p.parts * c.groups, p.lanes, [&](std::int64_t task, std::int64_t lane) {
    const std::int64_t part = task / c.groups, group = task % c.groups;
    T* const sum = (part == 0 ? weight : more + (part - 1) * size) + group * s.weight;
    const std::int64_t first = units * part / p.parts, last = units * (part + 1) / p.parts;
    if (first == last) std::fill_n(sum, s.weight, T(0));
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t image = unit / s.parts * c.groups + group;
      const std::int64_t begin = unit % s.parts * s.part, end = std::min(begin + s.part, s.lines);
      const T* const planes = x + image * c.windows.planes * s.plane;
      const Matrix<T> columns = columns_of(c, s, planes, begin, end, scratch + lane * p.scratch);
      gemm_here<T>({.n = c.outputs,
                    .m = s.terms,
                    .k = (end - begin) * s.line,
                    .a = {y + image * c.outputs * s.windows + begin * s.line, s.windows, 1},
                    .b = transposed(columns, s.terms),
                    .c = sum,
                    .c_stride = s.terms,
                    .accumulate = unit > first});
    }
  });
  for (std::int64_t part = 1; part < p.parts; ++part) {
    add_numbers(more + (part - 1) * size, size, weight);
  }
}

#define INSTANTIATE(T)                                                                             \
  template void convolve(const Convolution&, const ConvolutionPlan&, const T*, const T*, const T*, \
                         T*, T*);                                                                  \
  template void convolve_adjoint(const Convolution&, const ConvolutionPlan&, const T*, const T*,   \
                                 T*, T*);                                                          \
  template void convolve_weight(const Convolution&, const ConvolutionPlan&, const T*, const T*,    \
                                T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
