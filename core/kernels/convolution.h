// Convolutions as products of the weight and the windows of the input, laid out as columns a part
// at a time. Three maps, each linear in both arguments, and each the gradient of the others.
#pragma once

#include <cstdint>

#include "core/kernels/im2col.h"

namespace gradzoo::kernels {

/// x [batch, groups, windows.planes, height, width], weight [groups, outputs, windows.planes *
/// kernel], y [batch, groups, outputs, windows]. Their extents fit an int.
struct Convolution {
  Windows windows;  ///< on the planes of one group of one image
  std::int64_t batch, groups;
  std::int64_t outputs;  ///< of one group
};

/// How many threads are worth it, and what they write to beside the result, whose bits do not
/// depend on `lanes`.
struct ConvolutionPlan {
  std::int64_t lanes;    ///< threads
  std::int64_t scratch;  ///< elements that each of them needs for columns
  std::int64_t parts;    ///< sums that the gradient of the weight is made of
  std::int64_t memory;   ///< elements of all scratch memory
};
ConvolutionPlan plan_of(const Convolution& c);

/// y from x and weight. The bias, [groups, outputs], may be null. scratch: [p.memory].
template <class T>
void convolve(const Convolution& c, const ConvolutionPlan& p, const T* x, const T* weight,
              const T* bias, T* y, T* scratch);

/// The adjoint for x: x from y and weight.
template <class T>
void convolve_adjoint(const Convolution& c, const ConvolutionPlan& p, const T* y, const T* weight,
                      T* x, T* scratch);

/// The adjoint for the weight: weight from x and y.
template <class T>
void convolve_weight(const Convolution& c, const ConvolutionPlan& p, const T* x, const T* y,
                     T* weight, T* scratch);

}  // namespace gradzoo::kernels
