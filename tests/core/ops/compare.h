// Comparing tensors: by value, a fused backward kernel with its formula in ops, and one number of
// threads with another.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/threads.h"
#include "tests/core/message.h"

namespace gradzoo::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// A leaf with the values of x.
inline Tensor leaf(const Tensor& x) {
  Tensor copy = clone(x.detach());
  return copy.requires_grad_();
}

inline std::vector<double> values(const Tensor& x) {
  return to(x.detach(), DType::f64).to_vector<double>();
}

/// The largest difference, relative for numbers above 1. NaN and infinities must be in the same
/// places, or it is NaN.
inline double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<double> left = values(a);
  const std::vector<double> right = values(b);
  double worst = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]))) continue;
    const double d = std::abs(left[i] - right[i]) / std::max(1.0, std::abs(right[i]));
    worst = d <= worst ? worst : d;
  }
  return worst;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  if (a.dtype() != DType::f32) return values(a) == values(b);
  const std::vector<float> left = a.to_vector<float>();
  const std::vector<float> right = b.to_vector<float>();
  return left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

/// Gradients of f for a random upstream gradient: by the fused kernel, or by the formula in ops
/// that is used while a graph is recorded.
inline std::vector<Tensor> gradients(const Function& f, const std::vector<Tensor>& inputs,
                                     bool composed, std::uint64_t seed = 5) {
  std::vector<Tensor> leaves;
  std::vector<Tensor> arguments;
  for (const Tensor& input : inputs) {
    arguments.push_back(is_floating(input.dtype()) ? leaf(input) : input);
    if (is_floating(input.dtype())) leaves.push_back(arguments.back());
  }
  const Tensor y = f(arguments);
  Rng rng(seed);
  const Tensor upstream = randn(y.shape(), rng, y.dtype());
  return grad({y}, leaves, {.grad_outputs = {upstream}, .create_graph = composed});
}

/// The largest difference between the two kinds of gradients.
inline double fused_error(const Function& f, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> fused = gradients(f, inputs, false);
  const std::vector<Tensor> composed = gradients(f, inputs, true);
  double worst = 0;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    const double d = distance(fused[i], composed[i]);
    worst = d <= worst ? worst : d;
  }
  return worst;
}

/// True when f() gives the same bits with 1, 2 and 3 threads.
inline bool same_for_any_threads(const std::function<std::vector<Tensor>()>& f) {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> first = f();
  bool same = true;
  for (const int threads : {2, 3}) {
    set_num_threads(std::min(threads, max_threads()));
    const std::vector<Tensor> other = f();
    for (std::size_t i = 0; i < first.size(); ++i) same = same && same_bits(first[i], other[i]);
  }
  set_num_threads(before);
  return same;
}

}  // namespace gradzoo::test
