// Rows of attention: from one plain head to several, with every mask.
#include <cmath>

#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/attention.h"
#include "nn/mask.h"
#include "nn/self_attention.h"

namespace gradzoo::examples {
namespace {

using nn::MultiheadAttention;
using nn::operator&;

Tensor with_weights(const nn::Attended& got) { return joined({got.context, got.weights}); }

LayerRow self_attention_row(const std::string& option, const Tensor& mask) {
  return {"SelfAttention", option, 3 * (3 * 2 + 2), [=](Rng& rng) {
            const auto f = [=](const nn::SelfAttention& m, const Inputs& in) {
              return with_weights(m(in[0], mask));
            };
            return layer_case(nn::SelfAttention(3, 2, rng), rng, {{"x", input({2, 3, 3}, rng)}}, f);
          }};
}

// Output and weights of 2 queries to 3 keys in `heads` heads; keys and values have `key_heads`.
LayerRow function_row(const std::string& option, const Tensor& mask,
                      const nn::DotProductOptions& options = {}, std::int64_t heads = 1,
                      std::int64_t key_heads = 1) {
  return {
      "scaled_dot_product_attention", option, 0, [=](Rng& rng) {
        const auto f = [=](const Inputs& in) {
          Rng same(1);
          const TrainingScope training(same);
          return joined({nn::scaled_dot_product_attention(in[0], in[1], in[2], mask, options),
                         nn::attend_by_dot_product(in[0], in[1], in[2], mask, options).weights});
        };
        const nn::NamedTensors inputs{{"q", input({2, heads, 2, 3}, rng)},
                                      {"k", input({2, key_heads, 3, 3}, rng)},
                                      {"v", input({2, key_heads, 3, 2}, rng)}};
        return LayerCase{inputs, {}, f};
      }};
}

// A float mask is an input like any other: -inf hides, the rest is learned. The second query sees
// nothing.
LayerRow float_mask_row() {
  return {"scaled_dot_product_attention", "float mask", 0, [](Rng& rng) {
            const Tensor hidden = tensor({{0, 1, 0}, {1, 1, 1}}, DType::boolean);
            const auto f = [=](const Inputs& in) {
              const Tensor mask = masked_fill(in[3], hidden, -INFINITY);
              return with_weights(nn::attend_by_dot_product(in[0], in[1], in[2], mask));
            };
            const nn::NamedTensors inputs{{"q", input({2, 2, 2, 3}, rng)},
                                          {"k", input({2, 2, 3, 3}, rng)},
                                          {"v", input({2, 2, 3, 2}, rng)},
                                          {"mask", input({2, 3}, rng)}};
            return LayerCase{inputs, {}, f};
          }};
}

constexpr std::int64_t kWidth = 4, kHeads = 2, kHeadWidth = kWidth / kHeads;

// How a MultiheadAttention of width 4 and 2 heads is made and called.
struct Call {
  std::function<Tensor(const MultiheadAttention&, const Inputs&)> f;
  std::vector<std::pair<const char*, Shape>> inputs = {{"x", {2, 3, kWidth}}};
  nn::MultiheadAttentionOptions options = {};
  std::function<nn::AttentionPositions(Rng&)> positions = nullptr;
  std::int64_t position_weights = 0;
};

// On paper: a matrix for queries and one for the output, those of keys and values as high as their
// heads and as wide as what they come from; a bias for each row.
std::int64_t multihead_parameters(const nn::MultiheadAttentionOptions& o) {
  const std::int64_t kv = (o.num_kv_heads > 0 ? o.num_kv_heads : kHeads) * kHeadWidth;
  const std::int64_t kdim = o.kdim > 0 ? o.kdim : kWidth, vdim = o.vdim > 0 ? o.vdim : kWidth;
  return 2 * kWidth * kWidth + kv * kdim + kv * vdim + (o.bias ? 2 * kWidth + 2 * kv : 0);
}

LayerRow multihead_row(const std::string& option, const Call& call) {
  const std::int64_t parameters = multihead_parameters(call.options) + call.position_weights;
  return {"MultiheadAttention", option, parameters, [=](Rng& rng) {
            nn::NamedTensors inputs;
            for (const auto& [name, shape] : call.inputs) {
              inputs.emplace_back(name, input(shape, rng));
            }
            MultiheadAttention made(kWidth, kHeads, rng, call.options);
            if (call.positions) made.positions = call.positions(rng);
            return layer_case(made, rng, inputs, call.f);
          }};
}

Call self_with(const Tensor& mask, const nn::MultiheadAttentionOptions& options = {}) {
  Call call{[=](const auto& m, const Inputs& in) { return m(in[0], in[0], in[0], mask); }};
  call.options = options;
  return call;
}

Call cross_with(const Tensor& mask) {
  return {[=](const auto& m, const Inputs& in) { return m(in[0], in[1], in[1], mask); },
          {{"query", {2, 3, kWidth}}, {"memory", {2, 2, kWidth}}}};
}

Call with_positions(const std::function<nn::AttentionPositions(Rng&)>& positions,
                    std::int64_t weights, const Tensor& mask = {},
                    const nn::MultiheadAttentionOptions& options = {}) {
  Call call = self_with(mask, options);
  call.positions = positions;
  call.position_weights = weights;
  return call;
}

void add_positions(std::vector<LayerRow>& rows) {
  const auto relative = [](Rng& rng) { return nn::RelativePositions(1, kHeadWidth, rng); };
  const std::int64_t relative_weights = 2 * (2 * 1 + 1) * kHeadWidth;
  rows.push_back(multihead_row(
      "rotary", with_positions([](Rng&) { return nn::RotaryPositions(3, kHeadWidth); }, 0)));
  rows.push_back(
      multihead_row("rotary, shared key heads",
                    with_positions([](Rng&) { return nn::RotaryPositions(3, kHeadWidth); }, 0,
                                   nn::causal_mask(3), {.num_kv_heads = 1})));
  rows.push_back(
      multihead_row("alibi", with_positions([](Rng&) { return nn::AlibiPositions(); }, 0)));
  rows.push_back(multihead_row("relative", with_positions(relative, relative_weights)));
  rows.push_back(multihead_row(
      "relative, causal window",
      with_positions(relative, relative_weights, nn::causal_mask(3) & nn::window_mask(3, 1))));
}

std::vector<LayerRow> multihead_rows() {
  const Tensor padding = nn::padding_mask(tensor({2, 1}, DType::i64), 2);
  Call float_mask{[](const auto& m, const Inputs& in) { return m(in[0], in[0], in[0], in[1]); }};
  float_mask.inputs.emplace_back("mask", Shape{3, 3});
  Call weights = cross_with({});
  weights.f = [](const auto& m, const Inputs& in) {
    return with_weights(m.with_weights(in[0], in[1], in[1]));
  };
  Call dropout = self_with({}, {.dropout = 0.3});
  dropout.f = [](const auto& m, const Inputs& in) {
    Rng same(1);
    const TrainingScope training(same);
    return m(in[0], in[0], in[0]);
  };
  const Call widths{[](const auto& m, const Inputs& in) { return m(in[0], in[1], in[2]); },
                    {{"query", {1, 2, kWidth}}, {"key", {1, 3, 3}}, {"value", {1, 3, 5}}},
                    {.kdim = 3, .vdim = 5}};
  std::vector<LayerRow> rows{
      multihead_row("self", self_with({})),
      multihead_row("self, without bias", self_with({}, {.bias = false})),
      multihead_row("self, causal", self_with(nn::causal_mask(3))),
      multihead_row("self, window", self_with(nn::window_mask(3, 1))),
      multihead_row("self, float mask", float_mask),
      multihead_row("self, dropout", dropout),
      multihead_row("self, shared key heads", self_with({}, {.num_kv_heads = 1})),
      multihead_row("cross", cross_with({})),
      multihead_row("cross, padding mask", cross_with(padding)),
      multihead_row("cross, with weights", weights),
      multihead_row("cross, kdim and vdim", widths),
  };
  add_positions(rows);
  return rows;
}

}  // namespace

std::vector<LayerRow> attention_rows() {
  const Tensor blind = tensor({{1, 0, 1}, {0, 0, 0}}, DType::boolean);
  const Tensor padding = nn::padding_mask(tensor({3, 2}, DType::i64), 3);
  std::vector<LayerRow> rows{
      self_attention_row("", {}),
      self_attention_row("causal", nn::causal_mask(3)),
      self_attention_row("window", nn::window_mask(3, 0)),
      self_attention_row("padding mask", padding),
      function_row("", {}),
      function_row("causal", nn::causal_mask(2, 3)),
      function_row("padding mask", padding),
      function_row("a blind query", blind),
      float_mask_row(),
      function_row("dropout", {}, {.dropout = 0.3}),
      function_row("scale", {}, {.scale = 0.3}),
      function_row("softcap", nn::causal_mask(2, 3), {.softcap = 1.5}),
      function_row("shared key heads", {}, {}, 4, 2),
  };
  for (const LayerRow& row : multihead_rows()) rows.push_back(row);
  return rows;
}

}  // namespace gradzoo::examples
