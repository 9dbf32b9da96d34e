// Sinusoidal positions.
#include "nn/position.h"

#include <cmath>

#include "core/ops/binary.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model, std::int64_t first) {
  check(length >= 0 && d_model >= 1 && first >= 0,
        "sinusoidal_positions: length and first must not be negative and d_model at least 1, got "
        "{}, {} and {}",
        length, first, d_model);
  const Tensor table = empty({length, d_model}, DType::f64);
  double* out = mutable_data<double>(table);
  for (std::int64_t p = first; p < first + length; ++p) {
    for (std::int64_t j = 0; j < d_model; ++j) {
      const double exponent = static_cast<double>(j - j % 2) / static_cast<double>(d_model);
      const double angle = static_cast<double>(p) / std::pow(10000.0, exponent);
      *out++ = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return table;
}

Tensor position_rows(const Tensor& table, const Tensor& x, std::int64_t first) {
  check(x.dim() >= 2 && x.size(-1) == table.size(1) && first >= 0,
        "positions: x must be [..., time, {}] and first not negative, got {} and {}", table.size(1),
        x.shape(), first);
  const std::int64_t end = first + x.size(-2);
  check(end <= table.size(0),
        "positions: the sequence has {} tokens, the model was made for at most {}", end,
        table.size(0));
  return slice(table, 0, first, end);
}

Tensor SinusoidalPositions::operator()(const Tensor& x, std::int64_t first) const {
  return x + to(position_rows(table, x, first), x.dtype());
}

}  // namespace gradzoo::nn
