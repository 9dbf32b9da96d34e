// Rows of the op table: additive comparison.
#include <cmath>

#include "tests/core/op_table.h"

namespace gradzoo::test {
namespace {

using Tensors = std::vector<Tensor>;

Tensor reference(const Tensors& in) {
  const Tensor &query = in[0], &keys = in[1], &v = in[2];
  std::vector<double> out;
  for (std::int64_t b = 0; b < query.size(0); ++b) {
    for (std::int64_t q = 0; q < query.size(1); ++q) {
      for (std::int64_t k = 0; k < keys.size(1); ++k) {
        double sum = 0;
        for (std::int64_t i = 0; i < v.size(0); ++i) {
          sum += v.at({i}) * std::tanh(query.at({b, q, i}) + keys.at({b, k, i}));
        }
        out.push_back(sum);
      }
    }
  }
  return from_vector(out, {query.size(0), query.size(1), keys.size(1)});
}

}  // namespace

std::vector<OpRow> additive_rows() {
  OpRow row;
  row.op = "additive_scores";
  row.run = [](const Tensors& in) { return additive_scores(in[0], in[1], in[2]); };
  row.reference = reference;
  row.samples = [](Rng& rng) {
    const auto sample = [&](const char* name, std::int64_t batch, std::int64_t queries,
                            std::int64_t keys, std::int64_t n) {
      const auto random = [&](const Shape& shape) { return randn(shape, rng, DType::f64); };
      return Sample{name, {random({batch, queries, n}), random({batch, keys, n}), random({n})}};
    };
    return std::vector<Sample>{sample("ordinary", 2, 3, 4, 5),   sample("long", 1, 2, 1, 17),
                               sample("size 1", 1, 1, 1, 1),     sample("no rows", 0, 2, 3, 2),
                               sample("no queries", 2, 0, 3, 2), sample("no keys", 2, 3, 0, 2),
                               sample("no numbers", 2, 3, 2, 0)};
  };
  return {row};
}

}  // namespace gradzoo::test
