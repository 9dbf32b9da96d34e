// Rotary positions.
#include "nn/rotary.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/view.h"
#include "core/scope.h"
#include "nn/position.h"

namespace gradzoo::nn {

RotaryPositions::RotaryPositions(std::int64_t max_length, std::int64_t d, double base) {
  check(d >= 2 && d % 2 == 0,
        "RotaryPositions: the width of a head is turned in pairs and must be even, got {}", d);
  check(max_length >= 1 && base > 0,
        "RotaryPositions: max_length must be at least 1 and base positive, got {} and {}",
        max_length, base);
  table = empty({max_length, d}, DType::f64);
  double* out = mutable_data<double>(table);
  const std::int64_t half = d / 2;
  for (std::int64_t p = 0; p < max_length; ++p, out += d) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double exponent = -2 * static_cast<double>(i) / static_cast<double>(d);
      const double angle = static_cast<double>(p) * std::pow(base, exponent);
      out[i] = std::cos(angle);
      out[half + i] = std::sin(angle);
    }
  }
}

Tensor RotaryPositions::operator()(const Tensor& x, std::int64_t first) const {
  const Scope scope("RotaryPositions");
  const Tensor turns = to(position_rows(table, x, first), x.dtype());
  const std::int64_t half = table.size(1) / 2;
  const Tensor cos = slice(turns, 1, 0, half), sin = slice(turns, 1, half);  // [time, d/2]
  const Tensor a = slice(x, -1, 0, half), b = slice(x, -1, half);            // [..., time, d/2]
  return concat({a * cos - b * sin, a * sin + b * cos}, -1);
}

}  // namespace gradzoo::nn
