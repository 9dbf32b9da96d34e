// Attention with linear biases.
#include "nn/alibi.h"

#include <bit>
#include <cmath>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

Tensor alibi_slopes(std::int64_t heads) {
  check(heads >= 1, "alibi_slopes: there must be at least 1 head, got {}", heads);
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const Tensor slopes = empty({heads}, DType::f64);
  for (std::int64_t i = 0; i < heads; ++i) {
    const bool added = i >= power;  // one of the odd ones for twice as many heads
    const auto numerator = static_cast<double>(added ? 2 * (i - power) + 1 : i + 1);
    const auto of = static_cast<double>(added ? 2 * power : power);
    mutable_data<double>(slopes)[i] = std::exp2(-8 * numerator / of);
  }
  return slopes;
}

Tensor alibi_biases(std::int64_t heads, std::int64_t queries, std::int64_t keys, DType dtype) {
  check(queries >= 0 && keys >= 0 && is_floating(dtype),
        "alibi_biases: queries and keys must not be negative and the dtype f32 or f64, got {}, {} "
        "and {}",
        queries, keys, dtype);
  const double end = static_cast<double>(keys);
  const Tensor to_key = arange(end, DType::f64);                                             // [k]
  const Tensor from_query = arange(end - static_cast<double>(queries), end, 1, DType::f64);  // [q]
  const Tensor distance = abs(unsqueeze(from_query, 1) - to_key);  // [q, k]
  return to(reshape(-alibi_slopes(heads), {1, heads, 1, 1}) * distance, dtype);
}

}  // namespace gradzoo::nn
