// Batch normalisation (Ioffe and Szegedy 2015) of sequences and of images.
#pragma once

#include <cstdint>
#include <optional>

#include "core/tensor.h"

namespace gradzoo::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  /// How much of the newest batch goes into the running statistics; none: all batches count alike.
  std::optional<double> momentum = 0.1;
  bool affine = true;  ///< with weight and bias
  /// Without running statistics those of the batch are used outside training too.
  bool track_running_stats = true;
};

/// Normalises each channel of x [N, C, ...] by its mean and biased variance over all other axes,
/// then scales and shifts it. Inside a TrainingScope the statistics are the batch's, and the
/// running ones (there the variance is the unbiased one) move towards them; outside they are the
/// running ones, if there are any. x has kMinRank to kMaxRank axes. Names and numbers are
/// PyTorch's.
template <int kMinRank, int kMaxRank>
struct BatchNorm {
  Tensor weight;               ///< [C], starts at 1; undefined unless affine
  Tensor bias;                 ///< [C], starts at 0; undefined unless affine
  Tensor running_mean;         ///< [C], a buffer, starts at 0; undefined when not tracked
  Tensor running_var;          ///< [C], a buffer, starts at 1; likewise
  Tensor num_batches_tracked;  ///< i64 scalar, a buffer; likewise
  std::int64_t channels = 0;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;

  BatchNorm() = default;
  /// Throws unless channels is at least 1.
  explicit BatchNorm(std::int64_t channels, const BatchNormOptions& options = {});

  /// Throws when x does not fit, and when the statistics are those of a batch with fewer than two
  /// values for each channel.
  Tensor operator()(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("bias", self.bias);
    visit("running_mean", self.running_mean);
    visit("running_var", self.running_var);
    visit("num_batches_tracked", self.num_batches_tracked);
  }
};

using BatchNorm1d = BatchNorm<2, 3>;  ///< of [N, C] or [N, C, L]
using BatchNorm2d = BatchNorm<4, 4>;  ///< of [N, C, H, W]

}  // namespace gradzoo::nn
