// Rows of the op table: recurrent cells.
#include <cmath>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// h and c side by side.
Tensor lstm_reference(const Tensor& gates, const Tensor& c) {
  const std::int64_t n = c.size(1);
  std::vector<double> out(static_cast<std::size_t>(2 * c.numel()));
  for (std::int64_t b = 0; b < c.size(0); ++b) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double cell = logistic(gates.at({b, n + j})) * c.at({b, j}) +
                          logistic(gates.at({b, j})) * std::tanh(gates.at({b, 2 * n + j}));
      const auto at = static_cast<std::size_t>(2 * n * b + j);
      out[at] = logistic(gates.at({b, 3 * n + j})) * std::tanh(cell);
      out[at + static_cast<std::size_t>(n)] = cell;
    }
  }
  return from_vector(out, {c.size(0), 2 * n});
}

Tensor gru_reference(const Tensor& x, const Tensor& g, const Tensor& h) {
  const std::int64_t n = h.size(1);
  std::vector<double> out;
  for (std::int64_t b = 0; b < h.size(0); ++b) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double r = logistic(x.at({b, j}) + g.at({b, j}));
      const double z = logistic(x.at({b, n + j}) + g.at({b, n + j}));
      const double fresh = std::tanh(x.at({b, 2 * n + j}) + r * g.at({b, 2 * n + j}));
      out.push_back((1 - z) * fresh + z * h.at({b, j}));
    }
  }
  return from_vector(out, h.shape());
}

// `tensors` of gates of width number * n, then the state.
std::vector<Sample> samples(Rng& rng, int tensors, std::int64_t number) {
  const auto sample = [&](const char* name, std::int64_t batch, std::int64_t n) {
    Sample out{name, {}};
    for (int i = 0; i < tensors; ++i) {
      out.inputs.push_back(randn({batch, number * n}, rng, DType::f64));
    }
    out.inputs.push_back(randn({batch, n}, rng, DType::f64));
    return out;
  };
  return {sample("ordinary", 2, 3), sample("longer than a vector", 2, 9), sample("size 1", 1, 1),
          sample("no rows", 0, 2), sample("no columns", 2, 0)};
}

OpRow lstm_row() {
  OpRow row;
  row.op = "lstm_cell";
  row.run = [](const Tensors& in) {
    const auto [h, c] = lstm_cell(in[0], in[1]);
    return concat({h, c}, 1);
  };
  row.reference = [](const Tensors& in) { return lstm_reference(in[0], in[1]); };
  row.samples = [](Rng& rng) { return samples(rng, 1, 4); };
  return row;
}

OpRow gru_row() {
  OpRow row;
  row.op = "gru_cell";
  row.run = [](const Tensors& in) { return gru_cell(in[0], in[1], in[2]); };
  row.reference = [](const Tensors& in) { return gru_reference(in[0], in[1], in[2]); };
  row.samples = [](Rng& rng) { return samples(rng, 2, 3); };
  return row;
}

}  // namespace

std::vector<OpRow> recurrent_rows() { return {lstm_row(), gru_row()}; }

}  // namespace gradzoo::test
