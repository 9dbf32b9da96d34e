// Rows of the op table: recurrent cells, one step and whole sequences.
#include <algorithm>
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

// The sums that a step's gates are made of: gates_x[t][b] and W_hh h, row by row.
struct Sums {
  std::vector<double> x, h;
};

Sums sums_of(const Tensor& gates_x, const Tensor& weight, std::int64_t t, std::int64_t b,
             const std::vector<double>& h) {
  Sums sums;
  for (std::int64_t i = 0; i < weight.size(0); ++i) {
    sums.x.push_back(gates_x.at({t, b, i}));
    double product = 0;
    for (std::int64_t k = 0; k < weight.size(1); ++k) {
      product += weight.at({i, k}) * h[static_cast<std::size_t>(k)];
    }
    sums.h.push_back(product);
  }
  return sums;
}

// One row's state: h, and c where there is one.
struct State {
  std::vector<double> h, c;
};

// step(sums, state) along each row. Inputs: gates_x, W_hh, h, lengths, and perhaps c. Everything
// that comes out, in one row.
Tensor sequence_reference(const Tensors& in, const Tensor& c, bool backwards, const auto& step) {
  const std::int64_t time = in[0].size(0), batch = in[2].size(0), n = in[2].size(1);
  std::vector<double> output(static_cast<std::size_t>(time * batch * n)), h, cells;
  for (std::int64_t b = 0; b < batch; ++b) {
    State state;
    for (std::int64_t j = 0; j < n; ++j) {
      state.h.push_back(in[2].at({b, j}));
      if (c.defined()) state.c.push_back(c.at({b, j}));
    }
    const auto length = static_cast<std::int64_t>(in[3].at({b}));
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t t = backwards ? length - 1 - i : i;
      step(sums_of(in[0], in[1], t, b, state.h), state);
      for (std::int64_t j = 0; j < n; ++j) {
        output[static_cast<std::size_t>((t * batch + b) * n + j)] =
            state.h[static_cast<std::size_t>(j)];
      }
    }
    h.insert(h.end(), state.h.begin(), state.h.end());
    cells.insert(cells.end(), state.c.begin(), state.c.end());
  }
  output.insert(output.end(), h.begin(), h.end());
  output.insert(output.end(), cells.begin(), cells.end());
  return from_vector(output, {static_cast<std::int64_t>(output.size())});
}

void lstm_step(const Sums& sums, State& state) {
  const std::size_t n = state.h.size();
  const auto gate = [&](std::size_t k, std::size_t j) {
    return sums.x[k * n + j] + sums.h[k * n + j];
  };
  for (std::size_t j = 0; j < n; ++j) {
    state.c[j] = logistic(gate(1, j)) * state.c[j] + logistic(gate(0, j)) * std::tanh(gate(2, j));
    state.h[j] = logistic(gate(3, j)) * std::tanh(state.c[j]);
  }
}

void gru_step(const Sums& sums, const Tensor& bias, State& state) {
  const std::size_t n = state.h.size();
  const auto of_h = [&](std::size_t i) {
    return sums.h[i] + (bias.defined() ? bias.at({static_cast<std::int64_t>(i)}) : 0);
  };
  for (std::size_t j = 0; j < n; ++j) {
    const double r = logistic(sums.x[j] + of_h(j)), z = logistic(sums.x[n + j] + of_h(n + j));
    const double fresh = std::tanh(sums.x[2 * n + j] + r * of_h(2 * n + j));
    state.h[j] = (1 - z) * fresh + z * state.h[j];
  }
}

void rnn_step(const Sums& sums, bool relu, State& state) {
  for (std::size_t j = 0; j < state.h.size(); ++j) {
    const double sum = sums.x[j] + sums.h[j];
    state.h[j] = relu ? std::max(sum, 0.0) : std::tanh(sum);
  }
}

// gates_x, W_hh, h, lengths; then c [batch, n] (4 gates) or a bias (3 gates).
std::vector<Sample> sequence_samples(Rng& rng, std::int64_t gates) {
  const auto sample = [&](const char* name, std::int64_t time, std::int64_t n,
                          const std::vector<std::int64_t>& lengths) {
    const auto batch = static_cast<std::int64_t>(lengths.size());
    Sample out{name,
               {randn({time, batch, gates * n}, rng, DType::f64),
                randn({gates * n, n}, rng, DType::f64) * 0.5, randn({batch, n}, rng, DType::f64),
                from_vector(lengths, {batch})}};
    if (gates == 4) out.inputs.push_back(randn({batch, n}, rng, DType::f64));
    if (gates == 3) out.inputs.push_back(randn({3 * n}, rng, DType::f64));
    return out;
  };
  return {
      sample("ordinary", 3, 2, {3, 3}),           sample("unequal lengths", 3, 2, {2, 0, 3, 1, 3}),
      sample("longer than a vector", 2, 17, {2}), sample("size 1", 1, 1, {1}),
      sample("no steps", 0, 2, {0, 0}),           sample("no rows", 2, 2, {}),
      sample("no columns", 2, 0, {2, 1})};
}

Tensor joined(const Tensors& parts) {
  Tensors flat;
  for (const Tensor& x : parts) flat.push_back(reshape(x, {-1}));
  return concat(flat);
}

OpRow sequence_row(const char* op, const char* variant, std::int64_t gates) {
  OpRow row;
  row.op = op;
  row.variant = variant;
  row.samples = [gates](Rng& rng) { return sequence_samples(rng, gates); };
  return row;
}

OpRow lstm_sequence_row(bool backwards) {
  OpRow row = sequence_row("lstm_sequence", backwards ? "backwards" : "", 4);
  row.run = [backwards](const Tensors& in) {
    const auto [y, state] = lstm_sequence(in[0], in[1], {in[2], in[4]}, {in[3], backwards});
    return joined({y, state.h, state.c});
  };
  row.reference = [backwards](const Tensors& in) {
    return sequence_reference(in, in[4], backwards, lstm_step);
  };
  return row;
}

OpRow gru_sequence_row(bool backwards, bool has_bias) {
  OpRow row = sequence_row("gru_sequence",
                           !has_bias   ? "without bias"
                           : backwards ? "backwards"
                                       : "",
                           3);
  row.run = [=](const Tensors& in) {
    const auto [y, h] =
        gru_sequence(in[0], in[1], has_bias ? in[4] : Tensor(), in[2], {in[3], backwards});
    return joined({y, h});
  };
  row.reference = [=](const Tensors& in) {
    return sequence_reference(in, {}, backwards, [&](const Sums& sums, State& state) {
      gru_step(sums, has_bias ? in[4] : Tensor(), state);
    });
  };
  return row;
}

OpRow rnn_sequence_row(bool backwards, RnnActivation activation) {
  const bool relu = activation == RnnActivation::relu;
  OpRow row = sequence_row("rnn_sequence", relu ? "relu" : backwards ? "backwards" : "", 1);
  row.run = [=](const Tensors& in) {
    const auto [y, h] = rnn_sequence(in[0], in[1], in[2], activation, {in[3], backwards});
    return joined({y, h});
  };
  row.reference = [=](const Tensors& in) {
    return sequence_reference(in, {}, backwards,
                              [&](const Sums& sums, State& state) { rnn_step(sums, relu, state); });
  };
  return row;
}

}  // namespace

std::vector<OpRow> recurrent_rows() {
  return {lstm_row(),
          gru_row(),
          lstm_sequence_row(false),
          lstm_sequence_row(true),
          gru_sequence_row(false, true),
          gru_sequence_row(true, true),
          gru_sequence_row(false, false),
          rnn_sequence_row(false, RnnActivation::tanh),
          rnn_sequence_row(true, RnnActivation::tanh),
          rnn_sequence_row(false, RnnActivation::relu)};
}

}  // namespace gradzoo::test
