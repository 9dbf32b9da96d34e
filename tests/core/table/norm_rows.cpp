// Rows of the op table: layer_norm, rms_norm and dropout.
#include <cmath>

#include "core/scope.h"
#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

// Rows of x to mean 0 (if centered) and variance or mean square 1, times weight plus bias.
Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias, bool centered,
                 double eps) {
  std::vector<double> out = x.to_vector<double>();
  const auto n = static_cast<std::size_t>(x.size(-1));
  const auto w = weight.defined() ? weight.to_vector<double>() : std::vector<double>(n, 1);
  const auto b = bias.defined() ? bias.to_vector<double>() : std::vector<double>(n, 0);
  for (std::size_t start = 0; start < out.size(); start += n) {
    long double mean = 0;
    long double square = 0;
    for (std::size_t i = 0; centered && i < n; ++i) mean += out[start + i];
    mean /= static_cast<long double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      square += (out[start + i] - mean) * (out[start + i] - mean);
    }
    const long double root = std::sqrt(square / static_cast<long double>(n) + eps);
    for (std::size_t i = 0; i < n; ++i) {
      out[start + i] = static_cast<double>((out[start + i] - mean) / root) * w[i] + b[i];
    }
  }
  return from_vector(out, x.shape());
}

// x, and as many parameters as the row has.
std::vector<Sample> samples(Rng& rng, int parameters) {
  const auto sample = [&](const char* name, const Tensor& x) {
    Sample out{name, {x}};
    for (int i = 0; i < parameters; ++i) {
      out.inputs.push_back(randn({x.size(-1)}, rng, DType::f64));
    }
    return out;
  };
  return {sample("ordinary", randn({2, 3, 5}, rng, DType::f64)),
          sample("longer than a vector", randn({2, 19}, rng, DType::f64)),
          sample("one axis", randn({4}, rng, DType::f64)),
          sample("size 1", tensor({{0.5}}, DType::f64)),
          sample("no rows", zeros({0, 3}, DType::f64)),
          sample("no columns", zeros({3, 0}, DType::f64)),
          sample("edge: a constant row", tensor({{2, 2, 2}}, DType::f64))};
}

OpRow layer_row(const char* variant, bool has_weight, bool has_bias, double eps) {
  OpRow row;
  row.op = "layer_norm";
  row.variant = variant;
  const auto weight = [=](const Tensors& in) { return has_weight ? in[1] : Tensor(); };
  const auto bias = [=](const Tensors& in) { return has_bias ? in.back() : Tensor(); };
  row.run = [=](const Tensors& in) { return layer_norm(in[0], weight(in), bias(in), eps); };
  row.reference = [=](const Tensors& in) {
    return reference(in[0], weight(in), bias(in), true, eps);
  };
  row.samples = [=](Rng& rng) { return samples(rng, (has_weight ? 1 : 0) + (has_bias ? 1 : 0)); };
  return row;
}

OpRow rms_row(const char* variant, bool has_weight) {
  OpRow row;
  row.op = "rms_norm";
  row.variant = variant;
  const auto weight = [=](const Tensors& in) { return has_weight ? in[1] : Tensor(); };
  row.run = [=](const Tensors& in) { return rms_norm(in[0], weight(in)); };
  row.reference = [=](const Tensors& in) {
    return reference(in[0], weight(in), Tensor(), false, 1e-6);
  };
  row.samples = [=](Rng& rng) { return samples(rng, has_weight ? 1 : 0); };
  return row;
}

// With the generator at one position at each call, dropout is a function; the pattern is read off
// a tensor of ones.
OpRow dropout_row() {
  const auto drop = [](const Tensor& x) {
    Rng rng(11);
    const TrainingScope training(rng);
    return dropout(x, 0.4);
  };
  OpRow row;
  row.op = "dropout";
  row.run = [=](const Tensors& in) { return drop(in[0]); };
  row.reference = [=](const Tensors& in) {
    std::vector<double> out = in[0].to_vector<double>();
    const std::vector<double> pattern = drop(ones(in[0].shape(), DType::f64)).to_vector<double>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = pattern[i] > 0 ? out[i] / 0.6 : 0;
    return from_vector(out, in[0].shape());
  };
  row.samples = [](Rng& rng) { return samples(rng, 0); };
  return row;
}

}  // namespace

std::vector<OpRow> norm_rows() {
  return {layer_row("weight and bias", true, true, 1e-5),
          layer_row("weight", true, false, 1e-5),
          layer_row("bias", false, true, 1e-5),
          layer_row("plain, eps 0.1", false, false, 0.1),
          rms_row("weight", true),
          rms_row("plain", false),
          dropout_row()};
}

}  // namespace gradzoo::test
