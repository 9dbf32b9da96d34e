// Rows of the op table: products. The references are loops over every index.
#include "core/ops/matmul.h"
#include "tests/core/op_table.h"
#include "tests/core/ops/plain_matmul.h"

namespace gradzoo::test {
namespace {

using Inputs = std::vector<Tensor>;

Tensor randn64(const Shape& shape, Rng& rng) { return randn(shape, rng, DType::f64); }

Sample pair(const std::string& name, const Shape& a, const Shape& b, Rng& rng) {
  return {name, {randn64(a, rng), randn64(b, rng)}};
}

Tensor reference_matmul(const Inputs& in, const Shape& shape) {
  return from_vector(plain_matmul(in[0], in[1]), shape);
}

void add_matmul_rows(std::vector<OpRow>& rows) {
  const auto run = [](const Inputs& in) { return matmul(in[0], in[1]); };
  rows.push_back({.op = "matmul",
                  .variant = "matrices",
                  .run = run,
                  .reference =
                      [](const Inputs& in) {
                        return reference_matmul(in, {in[0].size(0), in[1].size(1)});
                      },
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {pair("ordinary", {3, 4}, {4, 2}, rng),
                            pair("one row", {1, 5}, {5, 3}, rng),
                            pair("one column", {3, 5}, {5, 1}, rng),
                            pair("nothing to sum", {2, 0}, {0, 3}, rng),
                            pair("no rows", {0, 3}, {3, 2}, rng),
                            pair("size 1", {1, 1}, {1, 1}, rng),
                            pair("outer product", {4, 1}, {1, 3}, rng)};
                  }});
  rows.push_back({.op = "matmul",
                  .variant = "batches",
                  .run = run,
                  .reference =
                      [](const Inputs& in) {
                        Shape shape =
                            broadcast_shapes("reference", in[0].shape().sub(0, in[0].dim() - 2),
                                             in[1].shape().sub(0, in[1].dim() - 2));
                        shape.push_back(in[0].size(-2));
                        shape.push_back(in[1].size(-1));
                        return reference_matmul(in, shape);
                      },
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {pair("ordinary", {2, 2, 3}, {2, 3, 2}, rng),
                            pair("one matrix on the right", {2, 2, 3}, {3, 2}, rng),
                            pair("one matrix on the left", {2, 3}, {2, 3, 2}, rng),
                            pair("broadcast", {2, 1, 2, 3}, {3, 3, 1}, rng),
                            pair("no batch", {0, 2, 3}, {0, 3, 2}, rng),
                            pair("nothing to sum", {2, 2, 0}, {0, 2}, rng)};
                  }});
  rows.push_back({.op = "matmul",
                  .variant = "vector on the left",
                  .run = run,
                  .reference =
                      [](const Inputs& in) {
                        Shape shape = in[1].shape();
                        shape.erase(shape.rank() - 2);
                        return reference_matmul({unsqueeze(in[0], 0), in[1]}, shape);
                      },
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {pair("ordinary", {4}, {4, 3}, rng), pair("batch", {4}, {2, 4, 3}, rng),
                            pair("empty", {0}, {0, 3}, rng), pair("size 1", {1}, {1, 1}, rng)};
                  }});
  rows.push_back({.op = "matmul",
                  .variant = "vector on the right",
                  .run = run,
                  .reference =
                      [](const Inputs& in) {
                        const bool both = in[0].dim() == 1;
                        const Tensor left = both ? unsqueeze(in[0], 0) : in[0];
                        return reference_matmul({left, unsqueeze(in[1], 1)},
                                                in[0].shape().sub(0, in[0].dim() - 1));
                      },
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {pair("ordinary", {3, 4}, {4}, rng), pair("batch", {2, 3, 4}, {4}, rng),
                            pair("two vectors", {5}, {5}, rng), pair("empty", {3, 0}, {0}, rng),
                            pair("size 1", {1, 1}, {1}, rng)};
                  }});
}

Tensor reference_linear(const Inputs& in) {
  Shape shape = in[0].shape();
  const std::int64_t width = shape.back();
  const std::int64_t out = in[1].size(0);
  shape[shape.rank() - 1] = out;
  const std::vector<double> x = in[0].to_vector<double>();
  Tensor y = zeros(shape, DType::f64);
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    double& value = mutable_data<double>(y)[i];
    if (in.size() == 3) value = in[2].at({i % out});
    for (std::int64_t l = 0; l < width; ++l) {
      value += x[static_cast<std::size_t>(i / out * width + l)] * in[1].at({i % out, l});
    }
  }
  return y;
}

void add_linear_rows(std::vector<OpRow>& rows) {
  const auto samples = [](bool bias) {
    return [bias](Rng& rng) -> std::vector<Sample> {
      std::vector<Sample> all{
          pair("ordinary", {3, 4}, {2, 4}, rng),       pair("more axes", {2, 3, 4}, {2, 4}, rng),
          pair("a vector", {4}, {3, 4}, rng),          pair("size 1", {1, 1}, {1, 1}, rng),
          pair("nothing to sum", {2, 0}, {3, 0}, rng), pair("no rows", {0, 3}, {2, 3}, rng),
          pair("no outputs", {2, 3}, {0, 3}, rng)};
      for (Sample& sample : all) {
        if (bias) sample.inputs.push_back(randn64({sample.inputs[1].size(0)}, rng));
      }
      return all;
    };
  };
  rows.push_back({.op = "linear",
                  .variant = "with bias",
                  .run = [](const Inputs& in) { return linear(in[0], in[1], in[2]); },
                  .reference = reference_linear,
                  .samples = samples(true)});
  rows.push_back({.op = "linear",
                  .variant = "without bias",
                  .run = [](const Inputs& in) { return linear(in[0], in[1]); },
                  .reference = reference_linear,
                  .samples = samples(false)});
}

// y[i][k] = sum over j of x[i][j] w[j][k], where an extent of 1 stretches.
Tensor reference_ij_jk(const Inputs& in) {
  const std::int64_t n = in[0].size(0), m = in[1].size(1);
  const std::int64_t left = in[0].size(1), right = in[1].size(0);
  const std::int64_t summed = left == 1 ? right : left;
  Tensor y = zeros({n, m}, DType::f64);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < m; ++k) {
      for (std::int64_t j = 0; j < summed; ++j) {
        mutable_data<double>(y)[i * m + k] +=
            in[0].at({i, left == 1 ? 0 : j}) * in[1].at({right == 1 ? 0 : j, k});
      }
    }
  }
  return y;
}

Tensor reference_diagonal(const Inputs& in) {
  const std::int64_t n = in[0].size(0);
  Tensor y = zeros({n}, DType::f64);
  for (std::int64_t i = 0; i < n; ++i) mutable_data<double>(y)[i] = in[0].at({i, i});
  return y;
}

// y[b][t][h] = sum over d of q[b][h][d] k[b][t][h][d].
Tensor reference_scores(const Inputs& in) {
  const Tensor &q = in[0], &k = in[1];
  const std::int64_t time = k.size(1), heads = k.size(2);
  Tensor y = zeros({q.size(0), time, heads}, DType::f64);
  for (std::int64_t b = 0; b < q.size(0); ++b) {
    for (std::int64_t t = 0; t < time; ++t) {
      for (std::int64_t h = 0; h < heads; ++h) {
        double& value = mutable_data<double>(y)[(b * time + t) * heads + h];
        for (std::int64_t d = 0; d < q.size(2); ++d) value += q.at({b, h, d}) * k.at({b, t, h, d});
      }
    }
  }
  return y;
}

void add_einsum_rows(std::vector<OpRow>& rows) {
  const auto run = [](const char* equation) {
    return [equation](const Inputs& in) { return einsum(equation, in); };
  };
  rows.push_back(
      {.op = "einsum",
       .variant = "ij,jk->ik",
       .run = run("ij,jk->ik"),
       .reference = reference_ij_jk,
       .samples = [](Rng& rng) -> std::vector<Sample> {
         return {pair("ordinary", {3, 4}, {4, 2}, rng), pair("broadcast", {3, 1}, {4, 2}, rng),
                 pair("size 1", {1, 1}, {1, 1}, rng), pair("empty", {2, 0}, {0, 3}, rng)};
       }});
  rows.push_back({.op = "einsum",
                  .variant = "ii->i",
                  .run = run("ii->i"),
                  .reference = reference_diagonal,
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {{"ordinary", {randn64({3, 3}, rng)}},
                            {"size 1", {randn64({1, 1}, rng)}},
                            {"empty", {randn64({0, 0}, rng)}}};
                  }});
  rows.push_back({.op = "einsum",
                  .variant = "bhd,bthd->bth",
                  .run = run("bhd,bthd->bth"),
                  .reference = reference_scores,
                  .samples = [](Rng& rng) -> std::vector<Sample> {
                    return {pair("ordinary", {2, 2, 3}, {2, 3, 2, 3}, rng),
                            pair("size 1", {1, 1, 1}, {1, 1, 1, 1}, rng),
                            pair("empty", {2, 2, 3}, {2, 0, 2, 3}, rng)};
                  }});
}

}  // namespace

std::vector<OpRow> matmul_rows() {
  std::vector<OpRow> rows;
  add_matmul_rows(rows);
  add_linear_rows(rows);
  add_einsum_rows(rows);
  return rows;
}

}  // namespace gradzoo::test
