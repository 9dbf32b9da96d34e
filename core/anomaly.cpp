// Finding values that are not finite, and saying where they came from.
#include "core/anomaly.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace gradzoo {
namespace {

// Shape, the range of the finite values, and how many are not finite.
std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "none";
  const std::string text = fmt::format("{} {}", tensor.dtype(), tensor.shape());
  if (!is_floating(tensor.dtype()) || tensor.numel() == 0) return text;
  double low = HUGE_VAL, high = -HUGE_VAL;
  std::int64_t strange = 0;
  const auto look = [&](const auto& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) {
        ++strange;
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  if (tensor.dtype() == DType::f32) {
    look(tensor.to_vector<float>());
  } else {
    look(tensor.to_vector<double>());
  }
  if (strange == tensor.numel()) return text + " of which none is finite";
  return fmt::format("{} in [{:.6g}, {:.6g}] with {} not finite", text, low, high, strange);
}

// Row-major position of the first element that is not finite, -1 if there is none.
std::int64_t first_strange(const Tensor& tensor) {
  const auto find = [](const auto& values) -> std::int64_t {
    const auto it = std::find_if(values.begin(), values.end(),
                                 [](auto value) { return !std::isfinite(value); });
    return it == values.end() ? -1 : it - values.begin();
  };
  if (tensor.dtype() == DType::f32) return find(tensor.to_vector<float>());
  if (tensor.dtype() == DType::f64) return find(tensor.to_vector<double>());
  return -1;
}

}  // namespace

void check_forward(const Tensor& out, const char* op, std::span<const Tensor> inputs) {
  const std::int64_t position = first_strange(out);
  if (position < 0) return;
  std::string from;
  for (const Tensor& input : inputs) from += (from.empty() ? "" : "; ") + describe(input);
  fail("anomaly: '{}' made a value that is not finite at {} of its output {}; inputs: {}", op,
       unravel_index(position, out.shape()), out.shape(), from);
}

void check_backward(std::span<const Tensor> grads, const char* op, const Tensor& grad_output) {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    const std::int64_t position = first_strange(grads[i]);
    check(position < 0,
          "anomaly: backward of '{}' made a value that is not finite at {} of the gradient of "
          "input {}; gradient of the output: {}",
          op, position < 0 ? Shape() : unravel_index(position, grads[i].shape()), i,
          position < 0 ? "" : describe(grad_output));
  }
}

}  // namespace gradzoo
