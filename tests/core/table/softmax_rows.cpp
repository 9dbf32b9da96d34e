// Rows of the op table: softmax and log_softmax.
#include <cmath>
#include <limits>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Softmax of f64 values along `axis`, where `kept` (as many, or none: all) says so; element by
// element, each with a loop over its line.
Tensor reference(const Tensor& x, const std::vector<bool>& kept, int axis, bool logarithm) {
  const std::vector<double> in = x.to_vector<double>();
  std::vector<double> out(in.size());
  std::int64_t step = 1;
  for (int i = axis + 1; i < x.dim(); ++i) step *= x.shape()[i];
  const std::int64_t n = x.shape()[axis];
  const auto counts = [&](std::int64_t i) {
    return kept.empty() || kept[static_cast<std::size_t>(i)];
  };
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t start = i / (step * n) * (step * n) + i % step;
    const auto at = [&](std::int64_t k) { return in[static_cast<std::size_t>(start + k * step)]; };
    double most = -kInf;
    double total = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      if (counts(start + k * step)) most = std::max(most, at(k));
    }
    for (std::int64_t k = 0; k < n; ++k) {
      if (counts(start + k * step)) total += std::exp(at(k) - most);
    }
    const double shifted = in[static_cast<std::size_t>(i)] - most;
    double& result = out[static_cast<std::size_t>(i)];
    if (counts(i)) {
      result = logarithm ? shifted - std::log(total) : std::exp(shifted) / total;
    } else {
      result = logarithm ? -kInf : 0;
    }
  }
  return from_vector(out, x.shape());
}

// The mask of one sample, given for each element of x.
std::vector<bool> stretched(const Tensor& mask, const Shape& shape) {
  std::vector<bool> out;
  const std::vector<bool> values = mask.to_vector<bool>();
  const int shift = shape.rank() - mask.dim();
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    std::int64_t rest = i, place = 0, step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      const std::int64_t index = rest % shape[axis];
      rest /= shape[axis];
      if (axis < shift) continue;
      place += mask.shape()[axis - shift] == 1 ? 0 : index * step;
      step *= mask.shape()[axis - shift];
    }
    out.push_back(values[static_cast<std::size_t>(place)]);
  }
  return out;
}

std::vector<Sample> samples(Rng& rng) {
  return {{"ordinary", {randn({2, 3, 5}, rng, DType::f64)}},
          {"longer than a vector", {randn({3, 37}, rng, DType::f64)}},
          {"one axis", {randn({4}, rng, DType::f64)}},
          {"size 1", {randn({1, 1}, rng, DType::f64)}},
          {"no rows", {zeros({0, 3}, DType::f64)}},
          {"no columns", {zeros({3, 0}, DType::f64)}},
          {"edge: 1e4", {tensor({{1e4, -1e4, 9999}, {0, 1e4, 1e4}}, DType::f64)}, false},
          {"edge: -inf", {tensor({{-kInf, 1, 2}, {-kInf, -kInf, 0}}, DType::f64)}, false}};
}

// Masks that leave something of each row: the others, and what is masked in logarithms, have
// tests of their own.
std::vector<Sample> masked_samples(Rng& rng, bool gradients) {
  const auto mask = [](const Nested& values) { return tensor(values, DType::boolean); };
  const Tensor x = randn({2, 3, 4}, rng, DType::f64);
  return {
      {"ordinary", {randn({2, 4}, rng, DType::f64), mask({{1, 0, 1, 1}, {0, 0, 1, 0}})}, gradients},
      {"broadcast: keys", {x, mask({{{1, 1, 1, 0}}, {{1, 0, 1, 0}}})}, gradients},
      {"broadcast: causal", {x, mask({{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}})}, gradients},
      {"broadcast: one row", {x, mask({0, 1, 1, 0})}, gradients},
      {"all true", {x, mask(1)}},
      {"size 1", {randn({1, 1}, rng, DType::f64), mask({1})}},
      {"empty", {zeros({0, 3}, DType::f64), mask({1, 0, 1})}}};
}

OpRow row(bool logarithm, int axis) {
  OpRow out;
  out.op = logarithm ? "log_softmax" : "softmax";
  out.variant = axis == 0 ? "axis 0" : "last axis";
  out.run = [=](const Tensors& in) {
    return logarithm ? log_softmax(in[0], axis) : softmax(in[0], axis);
  };
  out.reference = [=](const Tensors& in) {
    return reference(in[0], {}, axis == 0 ? 0 : in[0].dim() - 1, logarithm);
  };
  out.samples = samples;
  return out;
}

OpRow masked_row(bool logarithm) {
  OpRow out;
  out.op = logarithm ? "log_softmax" : "softmax";
  out.variant = "masked";
  out.run = [=](const Tensors& in) {
    return logarithm ? log_softmax(in[0], in[1]) : softmax(in[0], in[1]);
  };
  out.reference = [=](const Tensors& in) {
    return reference(in[0], stretched(in[1], in[0].shape()), in[0].dim() - 1, logarithm);
  };
  out.samples = [=](Rng& rng) { return masked_samples(rng, !logarithm); };
  return out;
}

}  // namespace

std::vector<OpRow> softmax_rows() {
  return {row(false, -1), row(false, 0), masked_row(false),
          row(true, -1),  row(true, 0),  masked_row(true)};
}

}  // namespace gradzoo::test
