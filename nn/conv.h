// Convolution layers, in one and two dimensions. Names, layouts and first values are PyTorch's.
#pragma once

#include <cstdint>

#include "core/ops/conv.h"
#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn {

struct Conv1dLayerOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

/// conv1d: [batch, in, time] -> [batch, out, windows].
struct Conv1d {
  Tensor weight;  ///< [out, in / groups, kernel]
  Tensor bias;    ///< [out], or undefined
  Conv1dOptions options;

  Conv1d() = default;
  /// Weight and bias uniform in ±1/sqrt(in / groups * kernel). Throws unless the widths are at
  /// least 1 and groups divides both.
  Conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, Rng& rng,
         const Conv1dLayerOptions& options = {});

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

struct Conv2dLayerOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;
  HeightWidth dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

/// conv2d: [batch, in, height, width] -> [batch, out, windows down, windows across].
struct Conv2d {
  Tensor weight;  ///< [out, in / groups, kernel height, kernel width]
  Tensor bias;    ///< [out], or undefined
  Conv2dOptions options;

  Conv2d() = default;
  /// Weight and bias uniform in ±1/sqrt(in / groups * kernel height * kernel width).
  Conv2d(std::int64_t in, std::int64_t out, const HeightWidth& kernel, Rng& rng,
         const Conv2dLayerOptions& options = {});

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

struct ConvTranspose2dLayerOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;
  HeightWidth output_padding = 0;
  HeightWidth dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

/// conv_transpose2d: [batch, in, height, width] -> [batch, out, …], stride times as large.
struct ConvTranspose2d {
  Tensor weight;  ///< [in, out / groups, kernel height, kernel width]
  Tensor bias;    ///< [out], or undefined
  ConvTranspose2dOptions options;

  ConvTranspose2d() = default;
  /// Weight and bias uniform in ±1/sqrt(out / groups * kernel height * kernel width).
  ConvTranspose2d(std::int64_t in, std::int64_t out, const HeightWidth& kernel, Rng& rng,
                  const ConvTranspose2dLayerOptions& options = {});

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

struct CausalConv1dOptions {
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

/// A Conv1d that sees no future: zeros before the start, (kernel - 1) * dilation of them, so that
/// output t depends on the inputs up to t alone. [batch, in, time] -> [batch, out, time]
/// (WaveNet, van den Oord et al. 2016).
struct CausalConv1d {
  Tensor weight;  ///< [out, in / groups, kernel]
  Tensor bias;    ///< [out], or undefined
  Conv1dOptions options;

  CausalConv1d() = default;
  /// Starts like Conv1d.
  CausalConv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, Rng& rng,
               const CausalConv1dOptions& options = {});

  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
  }
};

}  // namespace gradzoo::nn
