// Convolution layers: weights for the functions of core/ops/conv.h.
#include "nn/conv.h"

#include <cmath>

#include "core/ops/view.h"
#include "nn/init.h"

namespace gradzoo::nn {
namespace {

void check_widths(const char* layer, std::int64_t in, std::int64_t out, const HeightWidth& kernel,
                  std::int64_t groups) {
  check(in >= 1 && out >= 1 && kernel.height >= 1 && kernel.width >= 1,
        "{}: the widths must be at least 1, got in {}, out {} and kernel {} x {}", layer, in, out,
        kernel.height, kernel.width);
  check(groups >= 1 && in % groups == 0 && out % groups == 0,
        "{}: {} groups must divide in {} and out {}", layer, groups, in, out);
}

// Uniform in ±1/sqrt(fan_in), where fan_in is what one row of the weight holds.
template <class Layer>
void initialize(Layer& layer, const Shape& weight, std::int64_t out, bool bias, Rng& rng) {
  const auto fan_in = static_cast<double>(weight.sub(1, weight.rank()).numel());
  const double bound = 1 / std::sqrt(fan_in);
  layer.weight = init::uniform(weight, -bound, bound, rng);
  if (bias) layer.bias = init::uniform({out}, -bound, bound, rng);
}

}  // namespace

Conv1d::Conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, Rng& rng,
               const Conv1dLayerOptions& o)
    : options{o.stride, o.padding, o.dilation, o.groups} {
  check_widths("Conv1d", in, out, {1, kernel}, o.groups);
  initialize(*this, {out, in / o.groups, kernel}, out, o.bias, rng);
}

Tensor Conv1d::operator()(const Tensor& x) const { return conv1d(x, weight, bias, options); }

Conv2d::Conv2d(std::int64_t in, std::int64_t out, const HeightWidth& kernel, Rng& rng,
               const Conv2dLayerOptions& o)
    : options{o.stride, o.padding, o.dilation, o.groups} {
  check_widths("Conv2d", in, out, kernel, o.groups);
  initialize(*this, {out, in / o.groups, kernel.height, kernel.width}, out, o.bias, rng);
}

Tensor Conv2d::operator()(const Tensor& x) const { return conv2d(x, weight, bias, options); }

ConvTranspose2d::ConvTranspose2d(std::int64_t in, std::int64_t out, const HeightWidth& kernel,
                                 Rng& rng, const ConvTranspose2dLayerOptions& o)
    : options{o.stride, o.padding, o.output_padding, o.dilation, o.groups} {
  check_widths("ConvTranspose2d", in, out, kernel, o.groups);
  initialize(*this, {in, out / o.groups, kernel.height, kernel.width}, out, o.bias, rng);
}

Tensor ConvTranspose2d::operator()(const Tensor& x) const {
  return conv_transpose2d(x, weight, bias, options);
}

CausalConv1d::CausalConv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, Rng& rng,
                           const CausalConv1dOptions& o)
    : options{.dilation = o.dilation, .groups = o.groups} {
  check_widths("CausalConv1d", in, out, {1, kernel}, o.groups);
  initialize(*this, {out, in / o.groups, kernel}, out, o.bias, rng);
}

Tensor CausalConv1d::operator()(const Tensor& x) const {
  check(x.dim() == 3, "CausalConv1d: x must be [batch, channels, time], got shape {}", x.shape());
  const std::int64_t before = (weight.size(2) - 1) * options.dilation;
  return conv1d(pad(x, {{before, 0}}), weight, bias, options);
}

}  // namespace gradzoo::nn
