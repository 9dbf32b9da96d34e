// Rows of the op table: picking and adding by index, order.
#include <cmath>
#include <limits>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

std::size_t position(const Shape& index, const Shape& shape) {
  std::int64_t k = 0;
  for (int i = 0; i < shape.rank(); ++i) k = k * shape[i] + index[i];
  return static_cast<std::size_t>(k);
}

OpRow embedding_row(std::int64_t padding_idx) {
  return {.op = "embedding",
          .variant = padding_idx < 0 ? "" : "padding",
          .run = [=](const Tensors& in) { return embedding(in[0], in[1], padding_idx); },
          .reference =
              [](const Tensors& in) {
                const auto rows = in[0].to_vector<double>();
                const std::int64_t dim = in[0].shape()[1];
                std::vector<double> values;
                for (std::int64_t id : in[1].to_vector<std::int64_t>()) {
                  for (std::int64_t j = 0; j < dim; ++j) {
                    values.push_back(rows[static_cast<std::size_t>(id * dim + j)]);
                  }
                }
                Shape shape = in[1].shape();
                shape.push_back(dim);
                return from_vector(values, shape);
              },
          .samples = [=](Rng& rng) -> std::vector<Sample> {
            const Tensor table = randn({5, 3}, rng, DType::f64);
            return {{"ordinary", {table, ids({{0, 1, 4}, {1, 1, 2}})}},
                    {"one id", {randn({5, 17}, rng, DType::f64), ids(1)}},
                    {"size 1", {randn({4, 1}, rng, DType::f64), ids({0})}},
                    {"empty ids", {table, zeros({2, 0}, DType::i64)}},
                    {"empty rows", {zeros({5, 0}, DType::f64), ids({0, 1})}},
                    // The padding row is read, though its gradient is 0 by decree.
                    {"edge: row 3", {table, ids({3, 0, 3})}, padding_idx < 0}};
          }};
}

OpRow index_select_row() {
  return {.op = "index_select",
          .variant = "axis 1",
          .run = [](const Tensors& in) { return index_select(in[0], 1, in[1]); },
          .reference =
              [](const Tensors& in) {
                const auto x = in[0].to_vector<double>();
                const auto index = in[1].to_vector<std::int64_t>();
                Shape shape = in[0].shape();
                shape[1] = in[1].numel();
                std::vector<double> values;
                for (std::int64_t k = 0; k < shape.numel(); ++k) {
                  Shape at = unravel_index(k, shape);
                  at[1] = index[static_cast<std::size_t>(at[1])];
                  if (at[1] < 0) at[1] += in[0].shape()[1];
                  values.push_back(x[position(at, in[0].shape())]);
                }
                return from_vector(values, shape);
              },
          .samples = [](Rng& rng) -> std::vector<Sample> {
            const Tensor x = randn({2, 4, 3}, rng, DType::f64);
            return {{"ordinary, repeated", {x, ids({3, 0, 0, -1, -4})}},
                    {"size 1", {randn({1, 1}, rng, DType::f64), ids({0})}},
                    {"empty index", {x, zeros({0}, DType::i64)}},
                    {"empty", {zeros({0, 2}, DType::f64), ids({1, 1, 0})}}};
          }};
}

// in[0] at the places that in[1] names along the axis.
Tensor plain_gather(const Tensors& in, int axis) {
  const auto x = in[0].to_vector<double>();
  const auto index = in[1].to_vector<std::int64_t>();
  std::vector<double> values;
  for (std::int64_t k = 0; k < in[1].numel(); ++k) {
    Shape at = unravel_index(k, in[1].shape());
    const std::int64_t i = index[static_cast<std::size_t>(k)];
    at[axis] = i < 0 ? i + in[0].shape()[axis] : i;
    values.push_back(x[position(at, in[0].shape())]);
  }
  return from_vector(values, in[1].shape());
}

Tensor plain_scatter_add(const Tensors& in, int axis) {
  auto values = in[0].to_vector<double>();
  const auto index = in[1].to_vector<std::int64_t>();
  const auto src = in[2].to_vector<double>();
  for (std::int64_t k = 0; k < in[1].numel(); ++k) {
    Shape at = unravel_index(k, in[1].shape());
    const std::int64_t i = index[static_cast<std::size_t>(k)];
    at[axis] = i < 0 ? i + in[0].shape()[axis] : i;
    values[position(at, in[0].shape())] += src[static_cast<std::size_t>(k)];
  }
  return from_vector(values, in[0].shape());
}

// x and an index into it along each axis, some places twice, some from the back.
std::vector<Sample> gather_samples(Rng& rng, int axis, bool with_src) {
  std::vector<Sample> samples = {
      {"ordinary, repeated",
       {randn({3, 4}, rng, DType::f64),
        axis == 0 ? ids({{0, 0, -1}, {2, 0, 1}}) : ids({{0, 0, -1, 3, 0}, {2, 1, -4, 2, 2}})}},
      {"three axes",
       {randn({2, 3, 2}, rng, DType::f64),
        ids({{{0, 1}, {1, -2}, {1, 1}}, {{0, 0}, {1, 0}, {0, 1}}})}},
      {"size 1", {randn({1, 1}, rng, DType::f64), ids({{0}})}},
      {"empty index", {randn({2, 3}, rng, DType::f64), zeros({2, 0}, DType::i64)}},
      {"empty", {zeros({0, 3}, DType::f64), zeros({0, 3}, DType::i64)}}};
  for (Sample& sample : samples) {
    if (with_src) sample.inputs.push_back(randn(sample.inputs[1].shape(), rng, DType::f64));
  }
  return samples;
}

std::vector<OpRow> gather_rows() {
  std::vector<OpRow> rows;
  for (const int axis : {0, 1}) {
    const std::string variant = "axis " + std::to_string(axis);
    rows.push_back({.op = "gather",
                    .variant = variant,
                    .run = [=](const Tensors& in) { return gather(in[0], axis, in[1]); },
                    .reference = [=](const Tensors& in) { return plain_gather(in, axis); },
                    .samples = [=](Rng& rng) { return gather_samples(rng, axis, false); }});
    rows.push_back(
        {.op = "scatter_add",
         .variant = variant,
         .run = [=](const Tensors& in) { return scatter_add(in[0], axis, in[1], in[2]); },
         .reference = [=](const Tensors& in) { return plain_scatter_add(in, axis); },
         .samples = [=](Rng& rng) { return gather_samples(rng, axis, true); }});
  }
  return rows;
}

// The places of each line of the last axis, best first, by picking the best of the rest again and
// again; `want_values` for the values themselves.
Tensor plain_order(const Tensor& x, std::int64_t k, bool largest, bool want_values) {
  const std::int64_t n = x.shape().back();
  const auto all = x.to_vector<double>();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = k;
  std::vector<double> values;
  std::vector<std::int64_t> places;
  for (std::int64_t line = 0; line * k < shape.numel(); ++line) {
    std::vector<bool> taken(static_cast<std::size_t>(n), false);
    for (std::int64_t round = 0; round < k; ++round) {
      std::int64_t best = -1;
      for (std::int64_t i = 0; i < n; ++i) {
        if (taken[static_cast<std::size_t>(i)]) continue;
        const double a = all[static_cast<std::size_t>(line * n + i)];
        const double b = best < 0 ? 0 : all[static_cast<std::size_t>(line * n + best)];
        const bool more = a > b || (std::isnan(a) && !std::isnan(b));
        const bool less = a < b || (!std::isnan(a) && std::isnan(b));
        if (best < 0 || (largest ? more : less)) best = i;
      }
      taken[static_cast<std::size_t>(best)] = true;
      places.push_back(best);
      values.push_back(all[static_cast<std::size_t>(line * n + best)]);
    }
  }
  return want_values ? from_vector(values, shape) : from_vector(places, shape);
}

std::vector<Sample> order_samples(Rng& rng) {
  return {{"ordinary", {randn({3, 5}, rng, DType::f64)}},
          {"three axes", {randn({2, 2, 4}, rng, DType::f64)}},
          {"empty", {zeros({0, 4}, DType::f64)}},
          {"edge: ties",
           {tensor({{1, 2, 5, 4, 5}, {3, 3, 3, 3, 3}, {0, -0.0, 0, 1, 0}}, DType::f64)},
           false},
          {"edge: NaN and infinities",
           {tensor({{1, kNaN, kInf, kNaN, -kInf}, {-kInf, kInf, kInf, 0, kNaN}}, DType::f64)},
           false}};
}

OpRow order_row(const std::string& op, const std::string& variant,
                const std::function<Ordered(const Tensor&)>& run, std::int64_t k, bool largest,
                bool want_values) {
  return {.op = op,
          .variant = variant + (want_values ? ", values" : ", indices"),
          .run =
              [=](const Tensors& in) {
                const Ordered found = run(in[0]);
                return want_values ? found.values : found.indices;
              },
          .reference =
              [=](const Tensors& in) {
                return plain_order(in[0], k < 0 ? in[0].shape().back() : k, largest, want_values);
              },
          .samples = order_samples,
          .derivatives = want_values ? 2 : 0};
}

}  // namespace

std::vector<OpRow> index_rows() {
  std::vector<OpRow> rows = {embedding_row(-1), embedding_row(3), index_select_row()};
  for (const OpRow& row : gather_rows()) rows.push_back(row);
  for (const bool values : {true, false}) {
    for (const std::int64_t k : {0, 1, 3, 4}) {
      const std::string count = std::to_string(k);
      rows.push_back(order_row(
          "topk", count + " largest", [=](const Tensor& x) { return topk(x, k); }, k, true,
          values));
      rows.push_back(order_row(
          "topk", count + " smallest", [=](const Tensor& x) { return topk(x, k, -1, false); }, k,
          false, values));
    }
    rows.push_back(order_row(
        "sort", "ascending", [](const Tensor& x) { return sort(x); }, -1, false, values));
    rows.push_back(order_row(
        "sort", "descending", [](const Tensor& x) { return sort(x, -1, true); }, -1, true, values));
  }
  return rows;
}

}  // namespace gradzoo::test
