// ONNX's Attention and RotaryEmbedding through our layers.
#include <doctest/doctest.h>

#include "nn/attention.h"
#include "nn/rotary.h"
#include "tests/core/onnx_runner.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// [b, t, h * d] -> [b, h, t, d]; what has heads already stays.
Tensor with_heads(const Tensor& x, std::int64_t heads) {
  return x.dim() == 3 ? nn::split_heads(x, heads) : x;
}

// Neighbours become halves: x_0 x_2 … x_1 x_3 …
Tensor halves_from_pairs(const Tensor& x) {
  return concat({slice(x, -1, 0, kEnd, 2), slice(x, -1, 1, kEnd, 2)}, -1);
}
Tensor pairs_from_halves(const Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  return reshape(stack({slice(x, -1, 0, half), slice(x, -1, half)}, -1), x.shape());
}

// Each token may stand at any place, and each row of the batch may have a table of its own: so
// each is turned alone.
Tensors rotated(const OnnxCase& c) {
  const bool neighbours = c.integer("interleaved", 0) != 0, own_tables = c.in(1).dim() == 3;
  const Tensor x = with_heads(c.in(0), c.integer("num_heads", 0));  // [b, h, t, d]
  const Tensor tables = concat({c.in(1), c.in(2)}, -1);
  const std::int64_t turned = tables.size(-1);
  std::vector<Tensor> rows;
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    nn::RotaryPositions rotary;
    rotary.table = own_tables ? select(tables, 0, b) : tables;
    std::vector<Tensor> tokens;
    for (std::int64_t t = 0; t < x.size(2); ++t) {
      const Tensor token = slice(select(x, 0, b), 1, t, t + 1);  // [h, 1, d]
      const Tensor part = slice(token, -1, 0, turned), rest = slice(token, -1, turned);
      const auto place =
          own_tables ? t : static_cast<std::int64_t>(select(select(c.in(3), 0, b), 0, t).item());
      const Tensor y = rotary(neighbours ? halves_from_pairs(part) : part, place);
      tokens.push_back(concat({neighbours ? pairs_from_halves(y) : y, rest}, -1));
    }
    rows.push_back(concat(tokens, 1));
  }
  const Tensor y = stack(rows);
  return {c.in(0).dim() == 3 ? nn::merge_heads(y) : y};
}

}  // namespace

TEST_CASE("ONNX: RotaryEmbedding") {
  OnnxFamily family;
  family.ops["RotaryEmbedding"] = rotated;
  const OnnxCounts counts = run_onnx_family("rotary positions", family);
  if (!onnx_cases().empty()) CHECK(counts.ran == 6);
}
