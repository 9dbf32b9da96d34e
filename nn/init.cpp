// Initial values of weights.
#include "nn/init.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "nn/module.h"

namespace gradzoo::nn::init {
namespace {

struct Fans {
  double in, out;
};

// At least 1 each, so that an empty weight needs no special case.
Fans fans(const char* name, const Shape& shape) {
  check(shape.rank() >= 2, "init::{}: the shape must be [out, in, ...], got {}", name, shape);
  const std::int64_t kernel = shape.sub(2, shape.rank()).numel();
  return {static_cast<double>(std::max<std::int64_t>(shape[1] * kernel, 1)),
          static_cast<double>(std::max<std::int64_t>(shape[0] * kernel, 1))};
}

double kaiming_std(const char* name, const Shape& shape, const KaimingOptions& options) {
  const Fans fan = fans(name, shape);
  return gain(options.nonlinearity, options.slope) /
         std::sqrt(options.fan == Fan::in ? fan.in : fan.out);
}

// The share of a standard normal distribution below x.
double share_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// Makes the `count` rows of length `length` orthonormal, count <= length: modified Gram-Schmidt,
// which takes each finished direction out of all later rows at once.
void orthonormalize(std::vector<double>& rows, std::size_t count, std::size_t length) {
  for (std::size_t i = 0; i < count; ++i) {
    double* row = rows.data() + i * length;
    double square = 0;
    for (std::size_t k = 0; k < length; ++k) square += row[k] * row[k];
    const double scale = 1 / std::sqrt(square);
    for (std::size_t k = 0; k < length; ++k) row[k] *= scale;
    for (std::size_t j = i + 1; j < count; ++j) {
      double* later = rows.data() + j * length;
      double dot = 0;
      for (std::size_t k = 0; k < length; ++k) dot += row[k] * later[k];
      for (std::size_t k = 0; k < length; ++k) later[k] -= dot * row[k];
    }
  }
}

}  // namespace

Tensor uniform(const Shape& shape, double low, double high, Rng& rng) {
  check(low <= high, "init::uniform: low must not be above high, got {} and {}", low, high);
  return parameter(rand(shape, rng) * (high - low) + low);
}

Tensor normal(const Shape& shape, double mean, double std, Rng& rng) {
  return parameter(randn(shape, rng) * std + mean);
}

Tensor constant(const Shape& shape, double value) { return parameter(full(shape, value)); }

Tensor truncated_normal(const Shape& shape, Rng& rng, const TruncatedNormalOptions& options) {
  const double mean = options.mean, std = options.std, low = options.low, high = options.high;
  check(std > 0, "init::truncated_normal: std must be positive, got {}", std);
  const double inside = share_below((high - mean) / std) - share_below((low - mean) / std);
  check(inside >= 0.05, "init::truncated_normal: [{}, {}] holds only {:.3g} of N({}, {}^2)", low,
        high, inside, mean, std);
  const auto draw = [&] { return randn(shape, rng) * std + mean; };
  Tensor x = draw();
  for (;;) {
    const Tensor outside = logical_or(lt(x, low), gt(x, high));
    if (any(outside).item() == 0) return parameter(x);
    x = where(outside, draw(), x);
  }
}

double gain(Nonlinearity nonlinearity, double slope) {
  switch (nonlinearity) {
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid:
      return 1;
    case Nonlinearity::tanh:
      return 5.0 / 3;
    case Nonlinearity::relu:
      return std::sqrt(2.0);
    case Nonlinearity::leaky_relu:
      return std::sqrt(2 / (1 + slope * slope));
    case Nonlinearity::selu:
      return 0.75;
  }
  fail("init::gain: there is no nonlinearity {}", static_cast<int>(nonlinearity));
}

Tensor xavier_uniform(const Shape& shape, Rng& rng, double gain) {
  const Fans fan = fans("xavier_uniform", shape);
  const double bound = gain * std::sqrt(6 / (fan.in + fan.out));
  return uniform(shape, -bound, bound, rng);
}

Tensor xavier_normal(const Shape& shape, Rng& rng, double gain) {
  const Fans fan = fans("xavier_normal", shape);
  return normal(shape, 0, gain * std::sqrt(2 / (fan.in + fan.out)), rng);
}

Tensor kaiming_uniform(const Shape& shape, Rng& rng, const KaimingOptions& options) {
  const double bound = std::sqrt(3.0) * kaiming_std("kaiming_uniform", shape, options);
  return uniform(shape, -bound, bound, rng);
}

Tensor kaiming_normal(const Shape& shape, Rng& rng, const KaimingOptions& options) {
  return normal(shape, 0, kaiming_std("kaiming_normal", shape, options), rng);
}

Tensor orthogonal(const Shape& shape, Rng& rng, double gain) {
  check(shape.rank() >= 2, "init::orthogonal: the shape must be [out, in, ...], got {}", shape);
  const std::int64_t rows = shape[0], columns = shape.sub(1, shape.rank()).numel();
  const std::int64_t count = std::min(rows, columns), length = std::max(rows, columns);
  // The numbers are drawn and made orthonormal in f64: what is lost shows in no f32.
  std::vector<double> q = randn({count, length}, rng, DType::f64).to_vector<double>();
  orthonormalize(q, static_cast<std::size_t>(count), static_cast<std::size_t>(length));
  const Tensor wide = to(from_vector(q, {count, length}) * gain, DType::f32);
  return parameter(reshape(clone(rows <= columns ? wide : transpose(wide)), shape));
}

}  // namespace gradzoo::nn::init
