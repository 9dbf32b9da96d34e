// Philox in batches, and the distributions made from its bits.
#include "core/kernels/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/kernels/parallel.h"
#include "core/kernels/simd.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {

template <>
float fraction(std::uint64_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 40)) * 0x1p-24F;
}
template <>
double fraction(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53;
}

namespace {

// Blocks (of two numbers) that are computed together, in the lanes of vector registers.
constexpr std::int64_t kBatch = 64;
// Numbers of one piece of parallel work.
constexpr std::int64_t kPiece = 8192;

GRADZOO_INLINE void philox_rounds(std::uint32_t& c0, std::uint32_t& c1, std::uint32_t& c2,
                                  std::uint32_t& c3, std::uint32_t key0, std::uint32_t key1) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ key0;
    c1 = static_cast<std::uint32_t>(product1);
    c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c3 = static_cast<std::uint32_t>(product0);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

// The 2 * kBatch numbers from block number `block` on.
GRADZOO_SIMD void fill_batch(std::uint64_t seed, std::uint64_t block, std::uint64_t* numbers) {
#pragma omp simd
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const std::uint64_t counter = block + static_cast<std::uint64_t>(i);
    std::uint32_t c0 = static_cast<std::uint32_t>(counter);
    std::uint32_t c1 = static_cast<std::uint32_t>(counter >> 32);
    std::uint32_t c2 = 0, c3 = 0;
    philox_rounds(c0, c1, c2, c3, static_cast<std::uint32_t>(seed),
                  static_cast<std::uint32_t>(seed >> 32));
    numbers[2 * i] = c0 | static_cast<std::uint64_t>(c1) << 32;
    numbers[2 * i + 1] = c2 | static_cast<std::uint64_t>(c3) << 32;
  }
}

// Calls use(i, numbers, count) for the numbers first + i … first + i + count - 1, in pieces that
// cover [0, n).
template <class Use>
void for_numbers(std::uint64_t seed, std::uint64_t first, std::int64_t n, const Use& use) {
  parallel_for(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint64_t, 2 * kBatch> numbers;
    while (begin < end) {
      const std::uint64_t position = first + static_cast<std::uint64_t>(begin);
      const std::int64_t skip = static_cast<std::int64_t>(position % 2);
      const std::int64_t count = std::min(end - begin, 2 * kBatch - skip);
      fill_batch(seed, position / 2, numbers.data());
      use(begin, numbers.data() + skip, count);
      begin += count;
    }
  });
}

// Coefficients of cos(x) = 1 - z/2 + z^2 c(z) and sin(x) = x + x z s(z), z = x^2, |x| <= pi/4 (from
// the Cephes library), highest power first.
template <class T>
struct Circle;
template <>
struct Circle<float> {
  static constexpr float kCos[] = {2.443315711809948e-5F, -1.388731625493765e-3F,
                                   4.166664568298827e-2F};
  static constexpr float kSin[] = {-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
};
template <>
struct Circle<double> {
  static constexpr double kCos[] = {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                                    -2.75573141792967388112e-7,  2.48015872888517045348e-5,
                                    -1.38888888888730564116e-3,  4.16666666666665929218e-2};
  static constexpr double kSin[] = {1.58962301576546568060e-10, -2.50507477628578072866e-8,
                                    2.75573136213857245213e-6,  -1.98412698295895385996e-4,
                                    8.33333333332211858878e-3,  -1.66666666666666307295e-1};
};

// cos(2 pi turn / 2^32): the nearest quarter turn picks the function, the exact rest its argument.
template <class T>
GRADZOO_INLINE T cos_turn(std::uint32_t turn) {
  const std::uint32_t quarter = (turn + (1U << 29)) >> 30;
  const std::int32_t rest = static_cast<std::int32_t>(turn - (quarter << 30));
  const T x = static_cast<T>(rest) * (std::numbers::pi_v<T> * T(0x1p-31));
  const T z = x * x;
  const T c = 1 - T(0.5) * z + z * z * math::polynomial(z, Circle<T>::kCos);
  const T s = x + x * z * math::polynomial(z, Circle<T>::kSin);
  const T y = quarter % 2 == 0 ? c : s;
  return quarter % 4 == 1 || quarter % 4 == 2 ? -y : y;
}

template <class T>
GRADZOO_SIMD void normal_run(const std::uint64_t* numbers, std::int64_t n, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    // In (0, 1], so that the logarithm is finite.
    const std::uint32_t high = static_cast<std::uint32_t>(numbers[i] >> 32);
    const T u = (static_cast<T>(high) + 1) * T(0x1p-32);
    const T radius = std::sqrt(-2 * math::log_normal(u, T(0)));
    y[i] = radius * cos_turn<T>(static_cast<std::uint32_t>(numbers[i]));
  }
}

// An integer in [low, low + range) from the first number of a position that is not among the
// `surplus`: so many of the 2^64 are too many to be shared out evenly.
GRADZOO_INLINE std::int64_t fitted(std::uint64_t bits, std::uint64_t seed, std::uint64_t position,
                                   std::int64_t low, std::uint64_t range, std::uint64_t surplus) {
  for (std::uint32_t attempt = 1; bits < surplus; ++attempt) {
    bits = random_bits(seed, position, attempt);
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bits % range);
}

std::uint64_t range_of(std::int64_t low, std::int64_t high) {
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

template <class T>
GRADZOO_SIMD void uniform_run(const std::uint64_t* numbers, std::int64_t n, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = fraction<T>(numbers[i]);
}

// Two elements a number: the low half, then the high one.
template <class T>
GRADZOO_SIMD void bernoulli_run(const std::uint64_t* numbers, std::int64_t pairs,
                                std::uint64_t limit, T value, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    y[2 * i] = (numbers[i] & 0xFFFFFFFF) < limit ? value : T(0);
    y[2 * i + 1] = (numbers[i] >> 32) < limit ? value : T(0);
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  philox_rounds(counter[0], counter[1], counter[2], counter[3], key[0], key[1]);
  return counter;
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position, std::uint32_t attempt) {
  const std::uint64_t block = position / 2;
  const auto words = philox(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), attempt, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::size_t half = position % 2 * 2;
  return words[half] | static_cast<std::uint64_t>(words[half + 1]) << 32;
}

std::int64_t random_integer(std::uint64_t seed, std::uint64_t position, std::int64_t low,
                            std::int64_t high) {
  const std::uint64_t range = range_of(low, high);
  return fitted(random_bits(seed, position), seed, position, low, range, (0 - range) % range);
}

template <class T>
void uniform(std::uint64_t seed, std::uint64_t first, std::int64_t n, T* y) {
  for_numbers(seed, first, n,
              [&](std::int64_t i, const std::uint64_t* numbers, std::int64_t count) {
                uniform_run(numbers, count, y + i);
              });
}

template <class T>
void normal(std::uint64_t seed, std::uint64_t first, std::int64_t n, T* y) {
  for_numbers(seed, first, n,
              [&](std::int64_t i, const std::uint64_t* numbers, std::int64_t count) {
                normal_run(numbers, count, y + i);
              });
}

void integers(std::uint64_t seed, std::uint64_t first, std::int64_t n, std::int64_t low,
              std::int64_t high, std::int64_t* y) {
  const std::uint64_t range = range_of(low, high), surplus = (0 - range) % range;
  for_numbers(seed, first, n,
              [&](std::int64_t i, const std::uint64_t* numbers, std::int64_t count) {
                for (std::int64_t k = 0; k < count; ++k) {
                  const std::uint64_t position = first + static_cast<std::uint64_t>(i + k);
                  y[i + k] = fitted(numbers[k], seed, position, low, range, surplus);
                }
              });
}

template <class T>
void bernoulli(std::uint64_t seed, std::uint64_t first, std::int64_t n, double p, T value, T* y) {
  const std::uint64_t limit = static_cast<std::uint64_t>(p * 0x1p32);
  for_numbers(seed, first, n / 2,
              [&](std::int64_t i, const std::uint64_t* numbers, std::int64_t count) {
                bernoulli_run(numbers, count, limit, value, y + 2 * i);
              });
  if (n % 2 == 1) {
    const std::uint64_t last = random_bits(seed, first + static_cast<std::uint64_t>(n / 2));
    y[n - 1] = (last & 0xFFFFFFFF) < limit ? value : T(0);
  }
}

#define INSTANTIATE(T)                                                   \
  template void uniform(std::uint64_t, std::uint64_t, std::int64_t, T*); \
  template void normal(std::uint64_t, std::uint64_t, std::int64_t, T*);  \
  template void bernoulli(std::uint64_t, std::uint64_t, std::int64_t, double, T, T*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
template void bernoulli(std::uint64_t, std::uint64_t, std::int64_t, double, bool, bool*);

}  // namespace gradzoo::kernels
