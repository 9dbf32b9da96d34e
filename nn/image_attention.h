// Self-attention on images (SAGAN, Zhang et al. 2019): each position takes from all others.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/tensor.h"
#include "nn/attend.h"
#include "nn/conv.h"
#include "nn/spectral_norm.h"

namespace gradzoo::nn {

struct ImageAttentionOptions {
  std::int64_t reduction = 8;  ///< attention happens in channels / reduction channels
  bool bias = true;            ///< in the convolutions
};

/// y = gamma * v(o) + x, where o_j = sum over i of w_ji h(x_i), w_j = softmax over i of
/// f(x_i) . g(x_j), for positions i, j of x [batch, channels, height, width]. f, g, h and v are 1x1
/// convolutions. This is the form of the paper as published in 2019, in which h is as narrow as f
/// and g, and v widens; the preprint of 2018 has h of all channels and no v. gamma starts at 0: the
/// layer is the identity until it has learned to look around. Memory grows with the square of
/// the number of positions.
template <class Convolution>
struct BasicImageAttention {
  Convolution f;  ///< keys, channels -> channels / reduction
  Convolution g;  ///< queries, channels -> channels / reduction
  Convolution h;  ///< values, channels -> channels / reduction
  Convolution v;  ///< channels / reduction -> channels
  Tensor gamma;   ///< [1]

  BasicImageAttention() = default;
  /// Throws unless there is at least one channel after the reduction.
  BasicImageAttention(std::int64_t channels, Rng& rng, const ImageAttentionOptions& options = {});

  /// The output, shaped like x.
  Tensor operator()(const Tensor& x) const;
  /// The same output (as context), and what each position looks at: the weights [batch, height *
  /// width, height * width], of which each row adds up to 1.
  Attended with_weights(const Tensor& x) const;

  static void fields(auto& self, auto&& visit) {
    visit("f", self.f);
    visit("g", self.g);
    visit("h", self.h);
    visit("v", self.v);
    visit("gamma", self.gamma);
  }
};

using ImageAttention = BasicImageAttention<Conv2d>;
/// With spectral normalisation of all four weights, as the paper trains it.
using SpectralImageAttention = BasicImageAttention<SpectralConv2d>;

}  // namespace gradzoo::nn
