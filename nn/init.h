// Initial values of weights. Each makes a new parameter (a leaf that requires a gradient).
//
// A weight is [out, in], or [out, in, extents of the kernel...] of a convolution. Its fan_in is
// in times the size of the kernel, its fan_out is out times that size.
#pragma once

#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn::init {

/// Uniform in [low, high).
Tensor uniform(const Shape& shape, double low, double high, Rng& rng);
Tensor normal(const Shape& shape, double mean, double std, Rng& rng);
Tensor constant(const Shape& shape, double value);

/// A normal distribution cut to [low, high]: what falls outside is drawn again. Throws unless
/// std > 0, and when less than a twentieth of the distribution lies inside.
struct TruncatedNormalOptions {
  double mean = 0;
  double std = 1;
  double low = -2;
  double high = 2;
};
Tensor truncated_normal(const Shape& shape, Rng& rng, const TruncatedNormalOptions& options = {});

/// What comes after the weight.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };
/// The factor by which a weight must be larger for the nonlinearity to keep the scale of its
/// inputs, as in PyTorch; `slope` is that of leaky_relu.
double gain(Nonlinearity nonlinearity, double slope = 0.01);

/// Uniform in ±gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010).
Tensor xavier_uniform(const Shape& shape, Rng& rng, double gain = 1);
/// Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)).
Tensor xavier_normal(const Shape& shape, Rng& rng, double gain = 1);

/// Which scale is kept: that of the values going forward (in) or of the gradients going back (out).
enum class Fan { in, out };
struct KaimingOptions {
  Fan fan = Fan::in;
  Nonlinearity nonlinearity = Nonlinearity::relu;
  double slope = 0.01;  ///< of leaky_relu
};
/// Uniform in ±gain * sqrt(3 / fan) (He et al. 2015).
Tensor kaiming_uniform(const Shape& shape, Rng& rng, const KaimingOptions& options = {});
/// Normal with standard deviation gain / sqrt(fan).
Tensor kaiming_normal(const Shape& shape, Rng& rng, const KaimingOptions& options = {});

/// A random matrix of orthonormal rows (columns, if there are more rows than columns) times gain
/// (Saxe et al. 2014). All axes but the first count as one.
Tensor orthogonal(const Shape& shape, Rng& rng, double gain = 1);

}  // namespace gradzoo::nn::init
