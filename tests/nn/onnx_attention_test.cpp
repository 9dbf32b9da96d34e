// ONNX's Attention and RotaryEmbedding through our layers.
#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/attention.h"
#include "nn/mask.h"
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

// Past and new keys (or values), as a cache holds them.
nn::KvCache cache_of(const OnnxCase& c, const Tensor& k, const Tensor& v) {
  const bool past = c.has_input(4);
  const auto room = [&](const Tensor& x, std::size_t input) {
    Shape shape = x.shape();
    if (past) shape[2] += c.in(input).size(2);
    return shape;
  };
  nn::KvCache cache(room(k, 4), room(v, 5), k.dtype());
  if (past) cache.append(c.in(4), c.in(5));
  cache.append(k, v);
  return cache;
}

// ONNX's causal mask has the first query at the first key after the past, or, when the lengths of
// the rows are given, the last query at the last key of each row.
Tensor mask_of(const OnnxCase& c, std::int64_t queries, std::int64_t keys) {
  using nn::operator&;
  const bool causal = c.integer("is_causal", 0) != 0;
  const auto up_to = [&](std::int64_t offset) {
    return tril(full({queries, keys}, 1, DType::boolean), offset);
  };
  Tensor mask = c.has_input(3) ? c.in(3) : Tensor();
  if (!c.has_input(6)) {
    return causal ? up_to(c.has_input(4) ? c.in(4).size(2) : 0) & mask : mask;
  }
  std::vector<Tensor> rows;
  for (const std::int64_t length : c.list(6)) rows.push_back(up_to(length - queries));
  const Tensor real = nn::padding_mask(c.in(6), keys) & mask;
  return causal ? stack(rows) & real : real;
}

// Output, keys and values with the past, and the scores or weights that the case asks for.
Tensors attended(const OnnxCase& c) {
  const NoGrad no_grad;
  const Tensor q = with_heads(c.in(0), c.integer("q_num_heads", 0));
  const nn::KvCache cache = cache_of(c, with_heads(c.in(1), c.integer("kv_num_heads", 0)),
                                     with_heads(c.in(2), c.integer("kv_num_heads", 0)));
  const nn::DotProductOptions options{.scale = c.number("scale", 0),
                                      .softcap = c.number("softcap", 0)};
  const Tensor mask = mask_of(c, q.size(2), cache.length());
  const nn::Attended got =
      nn::attend_by_dot_product(q, cache.keys(), cache.values(), mask, options);
  const auto scores = [&](double softcap) {
    return nn::scaled_dot_product_scores(q, cache.keys(),
                                         {.scale = options.scale, .softcap = softcap});
  };
  const auto asked_for = [&]() -> Tensor {
    switch (c.integer("qk_matmul_output_mode", 0)) {
      case 0:
        return scores(0);
      case 1:
        return scores(options.softcap);
      case 2:
        return nn::apply_mask("onnx", scores(options.softcap), mask).scores;
      default:
        return got.weights;
    }
  };
  return {c.in(0).dim() == 3 ? nn::merge_heads(got.context) : got.context, cache.keys(),
          cache.values(), asked_for()};
}

}  // namespace

TEST_CASE("ONNX: RotaryEmbedding") {
  OnnxFamily family;
  family.ops["RotaryEmbedding"] = rotated;
  const OnnxCounts counts = run_onnx_family("rotary positions", family);
  if (!onnx_cases().empty()) CHECK(counts.ran == 6);
}

TEST_CASE("ONNX: Attention") {
  OnnxFamily family;
  family.ops["Attention"] = attended;
  const OnnxCounts counts = run_onnx_family("attention", family);
  if (!onnx_cases().empty()) CHECK(counts.ran == 43);
}
