// Rows of the op table: losses.
#include <cmath>
#include <limits>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

constexpr double kInf = std::numeric_limits<double>::infinity();

const char* name_of(Reduction reduction) {
  if (reduction == Reduction::none) return "none";
  return reduction == Reduction::mean ? "mean" : "sum";
}

// The losses, their sum, or that over `count`.
Tensor reduced(const std::vector<double>& losses, const Shape& shape, Reduction reduction,
               double count) {
  if (reduction == Reduction::none) return from_vector(losses, shape);
  double total = 0;
  for (const double loss : losses) total += loss;
  return scalar(reduction == Reduction::mean ? total / count : total, DType::f64);
}

// -sum_i q_i log p_i of one row, where q spreads `smoothing` over all classes.
double row_loss(const double* x, std::size_t k, std::size_t target, double smoothing) {
  double most = -kInf;
  double total = 0;
  double loss = 0;
  for (std::size_t i = 0; i < k; ++i) most = std::max(most, x[i]);
  for (std::size_t i = 0; i < k; ++i) total += std::exp(x[i] - most);
  for (std::size_t i = 0; i < k; ++i) {
    const double q = (i == target ? 1 - smoothing : 0) + smoothing / static_cast<double>(k);
    if (q > 0) loss += q * (most - x[i] + std::log(total));
  }
  return loss;
}

Tensor cross_entropy_reference(const Tensor& logits, const Tensor& targets,
                               const CrossEntropyOptions& options) {
  const std::vector<double> x = logits.to_vector<double>();
  const std::vector<std::int64_t> ids = targets.to_vector<std::int64_t>();
  const auto k = static_cast<std::size_t>(logits.size(-1));
  std::vector<double> losses;
  double kept = 0;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const bool ignored = ids[r] == options.ignore_index;
    if (!ignored) ++kept;
    losses.push_back(ignored ? 0
                             : row_loss(x.data() + r * k, k, static_cast<std::size_t>(ids[r]),
                                        options.label_smoothing));
  }
  return reduced(losses, targets.shape(), options.reduction, std::max(kept, 1.0));
}

std::vector<Sample> cross_entropy_samples(Rng& rng) {
  const auto ids = [](const Nested& values) { return tensor(values, DType::i64); };
  return {
      {"ordinary", {randn({4, 5}, rng, DType::f64), ids({4, 0, 2, 2})}},
      {"two axes of targets", {randn({2, 3, 4}, rng, DType::f64), randint(0, 4, {2, 3}, rng)}},
      {"more classes than a chunk", {randn({2, 259}, rng, DType::f64), ids({258, 3})}},
      {"some ignored", {randn({4, 3}, rng, DType::f64), ids({-100, 1, -100, 2})}},
      {"all ignored", {randn({2, 3}, rng, DType::f64), ids({-100, -100})}},
      {"one row, no axis of targets", {randn({3}, rng, DType::f64), ids(1)}},
      {"size 1", {randn({1, 1}, rng, DType::f64), ids({0})}},
      {"empty", {zeros({0, 3}, DType::f64), zeros({0}, DType::i64)}},
      {"edge: 1e4", {tensor({{1e4, -1e4, 0}, {1e4, -1e4, 1e4}}, DType::f64), ids({1, 2})}, false},
      {"edge: -inf", {tensor({{-kInf, 1, 2}, {-kInf, 1, 2}}, DType::f64), ids({0, 2})}, false}};
}

OpRow cross_entropy_row(const std::string& variant, const CrossEntropyOptions& options) {
  OpRow row;
  row.op = "cross_entropy";
  row.variant = variant;
  row.run = [=](const Tensors& in) { return cross_entropy(in[0], in[1], options); };
  row.reference = [=](const Tensors& in) { return cross_entropy_reference(in[0], in[1], options); };
  row.samples = cross_entropy_samples;
  return row;
}

// A loss that is a sum over pairs of numbers.
OpRow pairwise_row(const char* op, Reduction reduction,
                   Tensor (*loss)(const Tensor&, const Tensor&, Reduction),
                   double (*reference)(double x, double t),
                   std::function<std::vector<Sample>(Rng&)> samples) {
  OpRow row;
  row.op = op;
  row.variant = name_of(reduction);
  row.run = [=](const Tensors& in) { return loss(in[0], in[1], reduction); };
  row.reference = [=](const Tensors& in) {
    const std::vector<double> x = in[0].to_vector<double>();
    const std::vector<double> t = in[1].to_vector<double>();
    std::vector<double> losses;
    for (std::size_t i = 0; i < x.size(); ++i) losses.push_back(reference(x[i], t[i]));
    return reduced(losses, in[0].shape(), reduction, static_cast<double>(x.size()));
  };
  row.samples = std::move(samples);
  return row;
}

std::vector<Sample> pairs(Rng& rng) {
  return {{"ordinary", {randn({3, 4}, rng, DType::f64), rand({3, 4}, rng, DType::f64)}},
          {"longer than a vector", {randn({37}, rng, DType::f64), rand({37}, rng, DType::f64)}},
          {"scalars", {scalar(0.7, DType::f64), scalar(0.2, DType::f64)}},
          {"size 1", {randn({1, 1}, rng, DType::f64), rand({1, 1}, rng, DType::f64)}},
          // Without gradients: the mean of nothing is NaN.
          {"empty", {zeros({0, 3}, DType::f64), zeros({0, 3}, DType::f64)}, false}};
}

std::vector<Sample> logits_and_probabilities(Rng& rng) {
  std::vector<Sample> out = pairs(rng);
  const Tensor large = tensor({1e4, -1e4, 1e4, -1e4, 50, -50}, DType::f64);
  out.push_back({"edge: large", {large, tensor({1, 0, 0, 1, 1, 0}, DType::f64)}, false});
  return out;
}

}  // namespace

std::vector<OpRow> loss_rows() {
  std::vector<OpRow> rows = {
      cross_entropy_row("ignore_index 2, smoothed", {.ignore_index = 2, .label_smoothing = 0.2})};
  rows[0].samples = [](Rng& rng) -> std::vector<Sample> {
    return {{"ordinary", {randn({4, 3}, rng, DType::f64), tensor({0, 2, 1, 1}, DType::i64)}}};
  };
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    rows.push_back(cross_entropy_row(name_of(reduction), {.reduction = reduction}));
    rows.push_back(cross_entropy_row(name_of(reduction) + std::string(", smoothed"),
                                     {.label_smoothing = 0.1, .reduction = reduction}));
    rows.push_back(pairwise_row(
        "mse_loss", reduction, mse_loss, [](double x, double t) { return (x - t) * (x - t); },
        pairs));
    rows.push_back(pairwise_row(
        "binary_cross_entropy_with_logits", reduction, binary_cross_entropy_with_logits,
        [](double x, double t) {
          const double tail = std::log1p(std::exp(-std::abs(x)));
          return t * (std::max(-x, 0.0) + tail) + (1 - t) * (std::max(x, 0.0) + tail);
        },
        logits_and_probabilities));
  }
  return rows;
}

}  // namespace gradzoo::test
