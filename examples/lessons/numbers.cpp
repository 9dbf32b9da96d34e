// Numbers of lessons.
#include "examples/lessons/numbers.h"

#include <fmt/core.h>

#include <cmath>

#include "core/ops.h"

namespace gradzoo::examples {

Tensor rounded(const Tensor& x, int decimals) {
  const double unit = std::pow(10.0, decimals);
  return floor(x * unit + 0.5) / unit;
}

Tensor short_normal(const Shape& shape, Rng& rng) {
  return rounded(randn(shape, rng, DType::f64), 1);
}

Tensor short_leaf(const Shape& shape, Rng& rng) {
  return short_normal(shape, rng).requires_grad_();
}

void round_in_place(const Names& tensors, int decimals) {
  for (const auto& item : tensors) assign(item.second, rounded(item.second.detach(), decimals));
}

void forget_gradients(const Names& tensors) {
  for (auto [name, tensor] : tensors) {
    if (tensor.requires_grad()) tensor.zero_grad();
  }
}

double size_of(const Tensor& x) { return norm(x.detach()).item(); }

std::string fixed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

WalkTable grid(const std::string& corner, const std::vector<std::string>& rows,
               const std::vector<std::string>& columns, const Tensor& numbers) {
  WalkTable table;
  table.heads.push_back(corner);
  table.heads.insert(table.heads.end(), columns.begin(), columns.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells = {rows[i]};
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
      cells.push_back(fixed(numbers.at({row, column}), 3));
    }
    table.rows.push_back(cells);
  }
  return table;
}

}  // namespace gradzoo::examples
