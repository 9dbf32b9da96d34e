// Initial values of weights. Each makes a new parameter (a leaf that requires a gradient).
#pragma once

#include "core/random.h"
#include "core/tensor.h"

namespace gradzoo::nn::init {

/// Uniform in [low, high).
Tensor uniform(const Shape& shape, double low, double high, Rng& rng);
Tensor normal(const Shape& shape, double mean, double std, Rng& rng);
Tensor constant(const Shape& shape, double value);
/// Uniform in ±sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010). shape: [out, in].
Tensor xavier_uniform(const Shape& shape, Rng& rng);

}  // namespace gradzoo::nn::init
