// Random tensors: checks, then a stretch of the generator's stream.
#include "core/random.h"

#include <utility>

#include "core/create.h"
#include "core/kernels/random.h"
#include "core/ops/dispatch.h"

namespace gradzoo {

std::uint64_t Rng::next() { return kernels::random_bits(seed_, advance(1)); }

double Rng::uniform() { return kernels::fraction<double>(next()); }

std::int64_t Rng::integer(std::int64_t low, std::int64_t high) {
  check(low < high, "integer: the range [{}, {}) is empty", low, high);
  return kernels::random_integer(seed_, advance(1), low, high);
}

Rng Rng::fork() { return Rng(next()); }

Tensor rand(const Shape& shape, Rng& rng, DType dtype) {
  const Tensor y = empty(shape, dtype);
  dispatch_floating("rand", dtype, [&]<class T>() {
    const std::uint64_t first = rng.advance(static_cast<std::uint64_t>(y.numel()));
    kernels::uniform(rng.seed(), first, y.numel(), mutable_data<T>(y));
  });
  return y;
}

Tensor randn(const Shape& shape, Rng& rng, DType dtype) {
  const Tensor y = empty(shape, dtype);
  dispatch_floating("randn", dtype, [&]<class T>() {
    const std::uint64_t first = rng.advance(static_cast<std::uint64_t>(y.numel()));
    kernels::normal(rng.seed(), first, y.numel(), mutable_data<T>(y));
  });
  return y;
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Rng& rng) {
  check(low < high, "randint: the range [{}, {}) is empty", low, high);
  const Tensor y = empty(shape, DType::i64);
  const std::uint64_t first = rng.advance(static_cast<std::uint64_t>(y.numel()));
  kernels::integers(rng.seed(), first, y.numel(), low, high, mutable_data<std::int64_t>(y));
  return y;
}

Tensor permutation(std::int64_t n, Rng& rng) {
  check(n >= 0, "permutation: the length must not be negative, got {}", n);
  const Tensor y = arange(static_cast<double>(n), DType::i64);
  std::int64_t* order = mutable_data<std::int64_t>(y);
  // Fisher and Yates: each place from the back gets one of those not yet placed.
  for (std::int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[rng.integer(0, i + 1)]);
  return y;
}

}  // namespace gradzoo
