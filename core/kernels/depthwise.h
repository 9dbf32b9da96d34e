// Convolutions of one channel with one kernel each, without columns.
#pragma once

#include <cstdint>

#include "core/kernels/im2col.h"

namespace gradzoo::kernels {

/// y [batch, channels, windows] from x [batch, channels, height, width] and weight [channels,
/// kernel]. `windows` lie on one plane of x. The bias, [channels], may be null.
template <class T>
void depthwise(const Windows& windows, std::int64_t batch, std::int64_t channels, const T* x,
               const T* weight, const T* bias, T* y);

/// The adjoint for x: x from y and weight.
template <class T>
void depthwise_adjoint(const Windows& windows, std::int64_t batch, std::int64_t channels,
                       const T* y, const T* weight, T* x);

/// The adjoint for the weight: weight from x and y.
template <class T>
void depthwise_weight(const Windows& windows, std::int64_t batch, std::int64_t channels, const T* x,
                      const T* y, T* weight);

}  // namespace gradzoo::kernels
