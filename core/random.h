// Random numbers: a counter-based generator, so that a draw depends on the seed and on how many
// numbers were drawn before, never on shapes or threads.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// Philox4x32-10 (Salmon et al. 2011): number i of a stream is a function of (seed, i) alone.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t seed() const { return seed_; }
  /// How many numbers were drawn: with the seed, the whole state.
  std::uint64_t counter() const { return counter_; }
  void set_counter(std::uint64_t counter) { counter_ = counter; }
  /// Reserves `count` numbers and returns the position of the first.
  std::uint64_t advance(std::uint64_t count) {
    const std::uint64_t first = counter_;
    counter_ += count;
    return first;
  }
  /// The next number, 64 random bits.
  std::uint64_t next();
  /// Uniform in [0, 1).
  double uniform();
  /// Uniform in [low, high). Throws unless low < high.
  std::int64_t integer(std::int64_t low, std::int64_t high);
  /// An independent generator, for a part that must not disturb the draws of another.
  Rng fork();

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

/// Uniform in [0, 1).
Tensor rand(const Shape& shape, Rng& rng, DType dtype = DType::f32);
/// Normal with mean 0 and standard deviation 1 (Box-Muller).
Tensor randn(const Shape& shape, Rng& rng, DType dtype = DType::f32);
/// i64, uniform in [low, high). Throws unless low < high.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Rng& rng);
/// i64 [n]: 0..n-1 in random order.
Tensor permutation(std::int64_t n, Rng& rng);

}  // namespace gradzoo
