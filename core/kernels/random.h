// Random numbers by counter: number i of the stream `seed` is a function of (seed, i) alone, so
// any part of it can be drawn by any thread. The generator is Philox4x32-10 (Salmon et al. 2011,
// "Parallel Random Numbers: As Easy as 1, 2, 3").
#pragma once

#include <array>
#include <cstdint>

namespace gradzoo::kernels {

/// The block function itself: 128 random bits for a counter and a key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// Number `position` of a stream: 64 bits, half of a block whose key is the seed. `attempt` gives
/// further numbers for the same position.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position, std::uint32_t attempt = 0);

/// An integer in [low, high), each equally likely: a number that would favour some is replaced by
/// the next attempt at the same position.
std::int64_t random_integer(std::uint64_t seed, std::uint64_t position, std::int64_t low,
                            std::int64_t high);

/// The 53 (for float: 24) high bits of a number as a fraction in [0, 1).
template <class T>
T fraction(std::uint64_t bits);

/// y[i] from number first + i: uniform in [0, 1).
template <class T>
void uniform(std::uint64_t seed, std::uint64_t first, std::int64_t n, T* y);

/// y[i] from number first + i: normal, by Box and Muller; each half of the number is one of the
/// two uniform variables.
template <class T>
void normal(std::uint64_t seed, std::uint64_t first, std::int64_t n, T* y);

/// y[i] from number first + i: in [low, high).
void integers(std::uint64_t seed, std::uint64_t first, std::int64_t n, std::int64_t low,
              std::int64_t high, std::int64_t* y);

/// y[i] is `value` with probability p, else 0. Two elements share a number (32 bits are enough for
/// each): y[i] comes from number first + i / 2, and (n + 1) / 2 are used up.
template <class T>
void bernoulli(std::uint64_t seed, std::uint64_t first, std::int64_t n, double p, T value, T* y);

}  // namespace gradzoo::kernels
