// Initial values of weights.
#include "nn/init.h"

#include <cmath>

#include "core/create.h"
#include "core/ops/binary.h"
#include "nn/module.h"

namespace gradzoo::nn::init {

Tensor uniform(const Shape& shape, double low, double high, Rng& rng) {
  check(low <= high, "init::uniform: low must not be above high, got {} and {}", low, high);
  return parameter(rand(shape, rng) * (high - low) + low);
}

Tensor normal(const Shape& shape, double mean, double std, Rng& rng) {
  return parameter(randn(shape, rng) * std + mean);
}

Tensor constant(const Shape& shape, double value) { return parameter(full(shape, value)); }

Tensor xavier_uniform(const Shape& shape, Rng& rng) {
  check(shape.rank() == 2, "init::xavier_uniform: the shape must be [out, in], got {}", shape);
  const double bound =
      std::sqrt(6.0 / static_cast<double>(std::max<std::int64_t>(shape[0] + shape[1], 1)));
  return uniform(shape, -bound, bound, rng);
}

}  // namespace gradzoo::nn::init
