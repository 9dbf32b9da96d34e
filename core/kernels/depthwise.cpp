// Each element of the kernel in turn, over the runs of windows in which it meets the plane.
#include "core/kernels/depthwise.h"

#include <algorithm>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/window_runs.h"

namespace gradzoo::kernels {

// y += factor * x over runs: x is a plane, y what its windows give.
template <class T>
GRADZOO_SIMD void add_scaled(const Windows& w, const Runs& runs, T factor, const T* x, T* y) {
  for (std::int64_t r = 0; r < runs.number; ++r) {
    const T* const from = x + runs.plane + r * w.stride[0] * w.plane[1];
    T* const to = y + runs.column + r * w.count[1];
    if (w.stride[1] == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < runs.length; ++i) to[i] += factor * from[i];
    } else {
      for (std::int64_t i = 0; i < runs.length; ++i) to[i] += factor * from[i * w.stride[1]];
    }
  }
}

// x += factor * y over runs.
template <class T>
GRADZOO_SIMD void spread_scaled(const Windows& w, const Runs& runs, T factor, const T* y, T* x) {
  for (std::int64_t r = 0; r < runs.number; ++r) {
    const T* const from = y + runs.column + r * w.count[1];
    T* const to = x + runs.plane + r * w.stride[0] * w.plane[1];
    if (w.stride[1] == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < runs.length; ++i) to[i] += factor * from[i];
    } else {
      for (std::int64_t i = 0; i < runs.length; ++i) to[i * w.stride[1]] += factor * from[i];
    }
  }
}

// The sum of x y over runs. Each lane has a sum of its own until the end.
template <class T>
GRADZOO_SIMD T dot(const Windows& w, const Runs& runs, const T* x, const T* y) {
  constexpr std::int64_t kLanes = 16;
  T sums[kLanes] = {};
  const std::int64_t step = w.stride[1];
  for (std::int64_t r = 0; r < runs.number; ++r) {
    const T* const a = x + runs.plane + r * w.stride[0] * w.plane[1];
    const T* const b = y + runs.column + r * w.count[1];
    std::int64_t i = 0;
    for (; step == 1 && i + kLanes <= runs.length; i += kLanes) {
#pragma omp simd
      for (std::int64_t k = 0; k < kLanes; ++k) sums[k] += a[i + k] * b[i + k];
    }
    for (std::int64_t k = 0; i < runs.length; ++i, k = (k + 1) % kLanes) {
      sums[k] += a[i * step] * b[i];
    }
  }
  T total = 0;
  for (const T sum : sums) total += sum;
  return total;
}

namespace {

constexpr std::int64_t kBlock = 65536;  // multiplications that one thread takes at a time

std::int64_t block_of(const Windows& w, std::int64_t planes) {
  const std::int64_t work = product(w.kernel) * product(w.count) + product(w.plane);
  return std::max<std::int64_t>(kBlock / std::max<std::int64_t>(planes * work, 1), 1);
}

}  // namespace

template <class T>
void depthwise(const Windows& w, std::int64_t batch, std::int64_t channels, const T* x,
               const T* weight, const T* bias, T* y) {
  const std::int64_t plane = product(w.plane), count = product(w.count);
  const std::int64_t elements = product(w.kernel);
  parallel_for(batch * channels, block_of(w, 1), [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      const std::int64_t channel = i % channels;
      std::fill_n(y + i * count, count, bias == nullptr ? T(0) : bias[channel]);
      for (std::int64_t e = 0; e < elements; ++e) {
        const Runs runs(w, e);
        add_scaled(w, runs, weight[channel * elements + e], x + i * plane, y + i * count);
      }
    }
  });
}

template <class T>
void depthwise_adjoint(const Windows& w, std::int64_t batch, std::int64_t channels, const T* y,
                       const T* weight, T* x) {
  const std::int64_t plane = product(w.plane), count = product(w.count);
  const std::int64_t elements = product(w.kernel);
  parallel_for(batch * channels, block_of(w, 1), [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      std::fill_n(x + i * plane, plane, T(0));
      for (std::int64_t e = 0; e < elements; ++e) {
        const Runs runs(w, e);
        const T factor = weight[i % channels * elements + e];
        spread_scaled(w, runs, factor, y + i * count, x + i * plane);
      }
    }
  });
}

template <class T>
void depthwise_weight(const Windows& w, std::int64_t batch, std::int64_t channels, const T* x,
                      const T* y, T* weight) {
  const std::int64_t plane = product(w.plane), count = product(w.count);
  const std::int64_t elements = product(w.kernel);
  parallel_for(channels, block_of(w, batch), [&](std::int64_t c, std::int64_t end) {
    for (; c < end; ++c) {
      T* const sums = weight + c * elements;
      std::fill_n(sums, elements, T(0));
      for (std::int64_t i = c; i < batch * channels; i += channels) {
        for (std::int64_t e = 0; e < elements; ++e) {
          const Runs runs(w, e);
          sums[e] += dot(w, runs, x + i * plane, y + i * count);
        }
      }
    }
  });
}

#define INSTANTIATE(T)                                                                            \
  template void depthwise(const Windows&, std::int64_t, std::int64_t, const T*, const T*,         \
                          const T*, T*);                                                          \
  template void depthwise_adjoint(const Windows&, std::int64_t, std::int64_t, const T*, const T*, \
                                  T*);                                                            \
  template void depthwise_weight(const Windows&, std::int64_t, std::int64_t, const T*, const T*,  \
                                 T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels
