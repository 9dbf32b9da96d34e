// Finds sources by sending a NaN backwards.
#include "examples/common/walk/sources.h"

#include <cmath>
#include <limits>

#include "core/create.h"
#include "examples/common/walk/numbers.h"

namespace gradzoo::examples {
namespace {

void put(const Tensor& gradient, std::int64_t cell, double value) {
  if (gradient.dtype() == DType::f32) {
    mutable_data<float>(gradient)[cell] = static_cast<float>(value);
  } else {
    mutable_data<double>(gradient)[cell] = value;
  }
}

// Per input, which cells are NaN.
std::vector<std::vector<bool>> nan_cells(const Grads& grads) {
  std::vector<std::vector<bool>> cells(grads.size());
  for (std::size_t k = 0; k < grads.size(); ++k) {
    if (!grads[k].defined()) continue;
    for (const double value : numbers_of(grads[k])) cells[k].push_back(std::isnan(value));
  }
  return cells;
}

Sources probe(const std::shared_ptr<Node>& node, const std::vector<bool>& needed) {
  const Tensor gradient = zeros(node->shape, node->dtype);
  const BackwardContext context(node, gradient, needed);
  // Cells that are NaN whatever comes in (0 times infinity) tell nothing.
  const std::vector<std::vector<bool>> always = nan_cells(node->vjp(context));
  Sources sources(needed.size());
  for (std::int64_t cell = 0; cell < gradient.numel(); ++cell) {
    put(gradient, cell, std::numeric_limits<double>::quiet_NaN());
    const std::vector<std::vector<bool>> reached = nan_cells(node->vjp(context));
    put(gradient, cell, 0);
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (!needed[k]) continue;
      std::vector<std::int32_t>& cells = sources[k].emplace_back();
      for (std::size_t i = 0; i < reached[k].size(); ++i) {
        if (reached[k][i] && !always[k][i]) cells.push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  return sources;
}

}  // namespace

Sources sources_of(const std::shared_ptr<Node>& node) {
  if (node->is_leaf || node->released || node->shape.numel() > kMostSourceCells) return {};
  std::vector<bool> needed;
  bool any = false;
  for (const std::shared_ptr<Node>& input : node->inputs) {
    needed.push_back(input != nullptr && input->shape.numel() <= kMostSourceCells);
    any = any || needed.back();
  }
  if (!any) return {};
  const Unseen unseen;
  try {
    return probe(node, needed);
  } catch (const Error&) {  // no gradient by nature
    return {};
  }
}

}  // namespace gradzoo::examples
