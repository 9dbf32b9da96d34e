// Rows of attention: from one plain head to several, with every mask.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/attention.h"
#include "nn/mask.h"
#include "nn/self_attention.h"

namespace gradzoo::examples {
namespace {

using nn::MultiheadAttention;

Tensor with_weights(const nn::Attended& got) { return joined({got.context, got.weights}); }

LayerRow self_attention_row(const std::string& option, const Tensor& mask) {
  return {"SelfAttention", option, 3 * (3 * 2 + 2), [=](Rng& rng) {
            const auto f = [=](const nn::SelfAttention& m, const Inputs& in) {
              return with_weights(m(in[0], mask));
            };
            return layer_case(nn::SelfAttention(3, 2, rng), rng, {{"x", input({2, 3, 3}, rng)}}, f);
          }};
}

LayerRow function_row(const std::string& option, const Tensor& mask, double dropout = 0) {
  return {"scaled_dot_product_attention", option, 0, [=](Rng& rng) {
            const auto f = [=](const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return nn::scaled_dot_product_attention(in[0], in[1], in[2], mask, dropout);
            };
            const nn::NamedTensors inputs{{"q", input({2, 2, 3}, rng)},
                                          {"k", input({2, 3, 3}, rng)},
                                          {"v", input({2, 3, 2}, rng)}};
            return LayerCase{inputs, {}, f};
          }};
}

// How MultiheadAttention is called. A width of 4, 2 heads, and 4 matrices, with biases or without.
struct Call {
  std::function<Tensor(const MultiheadAttention&, const Inputs&)> f;
  bool cross = false;
  bool float_mask = false;
  nn::MultiheadAttentionOptions options = {};
};

LayerRow multihead_row(const std::string& option, const Call& call) {
  const std::int64_t d = 4, parameters = 4 * d * d + (call.options.bias ? 4 * d : 0);
  return {"MultiheadAttention", option, parameters, [=](Rng& rng) {
            nn::NamedTensors inputs{{call.cross ? "query" : "x", input({2, 3, d}, rng)}};
            if (call.cross) inputs.emplace_back("memory", input({2, 2, d}, rng));
            if (call.float_mask) inputs.emplace_back("mask", input({2, 3, 3}, rng));
            return layer_case(MultiheadAttention(d, 2, rng, call.options), rng, inputs, call.f);
          }};
}

Call self_with(const Tensor& mask) {
  return {[=](const auto& m, const Inputs& in) { return m(in[0], in[0], mask); }};
}

Call cross_with(const Tensor& mask) {
  return {[=](const auto& m, const Inputs& in) { return m(in[0], in[1], mask); }, true};
}

std::vector<LayerRow> multihead_rows() {
  const Tensor keys = nn::padding_mask(tensor({2, 1}, DType::i64), 2);  // of two, of one
  const Tensor padding = reshape(keys, {2, 1, 1, 2});
  const Call weights{
      [](const auto& m, const Inputs& in) { return with_weights(m.with_weights(in[0], in[1])); },
      true};
  Call without_bias = self_with({});
  without_bias.options.bias = false;
  const Call dropout{[](const auto& m, const Inputs& in) {
                       Rng same(1);
                       const TrainingScope training(same);
                       return m(in[0], in[0]);
                     },
                     false,
                     false,
                     {.dropout = 0.3}};
  const Call float_mask{[](const auto& m, const Inputs& in) { return m(in[0], in[0], in[1]); },
                        false, true};
  return {
      multihead_row("self", self_with({})),
      multihead_row("self, without bias", without_bias),
      multihead_row("self, causal", self_with(nn::causal_mask(3))),
      multihead_row("self, window", self_with(nn::window_mask(3, 1))),
      multihead_row("self, float mask", float_mask),
      multihead_row("self, dropout", dropout),
      multihead_row("cross", cross_with({})),
      multihead_row("cross, padding mask", cross_with(padding)),
      multihead_row("cross, with weights", weights),
  };
}

}  // namespace

std::vector<LayerRow> attention_rows() {
  std::vector<LayerRow> rows{
      self_attention_row("", {}),
      self_attention_row("causal", nn::causal_mask(3)),
      self_attention_row("window", nn::window_mask(3, 0)),
      function_row("", {}),
      function_row("causal", nn::causal_mask(2, 3)),
      function_row("dropout", {}, 0.3),
  };
  for (const LayerRow& row : multihead_rows()) rows.push_back(row);
  return rows;
}

}  // namespace gradzoo::examples
