// Batch normalisation of sequences and of images.
#include "nn/batch_norm.h"

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/init.h"

namespace gradzoo::nn {
namespace {

// Moves a running statistic towards that of the batch.
void move_towards(const Tensor& running, const Tensor& batch, double share) {
  assign(running, running * (1 - share) + batch * share);
}

// Moves both, for a batch of `count` values in each channel.
template <class Layer>
void follow(const Layer& layer, const Tensor& mean, const Tensor& variance, std::int64_t count) {
  assign(layer.num_batches_tracked, layer.num_batches_tracked + 1);
  const double share = layer.momentum.value_or(1 / layer.num_batches_tracked.item());
  const double n = static_cast<double>(count);
  move_towards(layer.running_mean, mean, share);
  move_towards(layer.running_var, variance * (n / (n - 1)), share);
}

// [C] as [C, 1, ...], which broadcasts over x [N, C, ...].
Tensor per_channel(const Tensor& values, const Tensor& x) {
  Shape shape = Shape::filled(x.dim() - 1, 1);
  shape[0] = values.size(0);
  return reshape(values, shape);
}

// Every axis but that of the channels.
Shape other_axes(int rank) {
  Shape axes{0};
  for (int axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

template <int kMinRank, int kMaxRank>
BatchNorm<kMinRank, kMaxRank>::BatchNorm(std::int64_t channels, const BatchNormOptions& options)
    : channels(channels), eps(options.eps), momentum(options.momentum) {
  check(channels >= 1, "BatchNorm: there must be at least 1 channel, got {}", channels);
  if (options.affine) {
    weight = init::constant({channels}, 1);
    bias = init::constant({channels}, 0);
  }
  if (!options.track_running_stats) return;
  running_mean = zeros({channels});
  running_var = ones({channels});
  num_batches_tracked = scalar(0, DType::i64);
}

template <int kMinRank, int kMaxRank>
Tensor BatchNorm<kMinRank, kMaxRank>::operator()(const Tensor& x) const {
  const Scope scope("BatchNorm");
  check(x.dim() >= kMinRank && x.dim() <= kMaxRank,
        "BatchNorm: x must have {} to {} axes, [batch, channels, ...], got {}", kMinRank, kMaxRank,
        x.shape());
  check(x.size(1) == channels, "BatchNorm: x must have {} channels on axis 1, got {}", channels,
        x.shape());
  Tensor mean = running_mean, variance = running_var;
  const bool training = modes().training != nullptr, tracked = running_mean.defined();
  if (training || !tracked) {
    const std::int64_t count = x.numel() / channels;
    check(count >= 2, "BatchNorm: training needs at least 2 values for each channel, got {}",
          x.shape());
    const Shape axes = other_axes(x.dim());
    mean = gradzoo::mean(x, axes);
    variance = var(x, axes, false, 0);
    if (training && tracked) follow(*this, mean.detach(), variance.detach(), count);
  }
  Tensor scale = rsqrt(variance + eps);
  if (weight.defined()) scale = scale * weight;
  const Tensor y = (x - per_channel(mean, x)) * per_channel(scale, x);
  return bias.defined() ? y + per_channel(bias, x) : y;
}

template struct BatchNorm<2, 3>;
template struct BatchNorm<4, 4>;

}  // namespace gradzoo::nn
