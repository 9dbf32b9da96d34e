// Rows of positions: added, turned, relative, and as biases of the scores.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/attention_positions.h"
#include "nn/learned_positions.h"
#include "nn/mask.h"
#include "nn/position.h"
#include "nn/relative.h"
#include "nn/rotary.h"

namespace gradzoo::examples {
namespace {

// Positions that have no weights: x -> f(x), squared so that second derivatives are not all 0.
LayerRow fixed_row(const std::string& layer, const std::string& option, const Shape& x,
                   const std::function<Tensor(const Tensor&)>& f) {
  return {layer, option, 0, [=](Rng& rng) {
            return LayerCase{
                {{"x", input(x, rng)}}, {}, [f](const Inputs& in) { return square(f(in[0])); }};
          }};
}

LayerRow learned_row(const std::string& option, std::int64_t first) {
  return {
      "LearnedPositions", option, 5 * 3, [=](Rng& rng) {
        const auto f = [=](const nn::LearnedPositions& m, const Inputs& in) {
          return square(m(in[0], first));
        };
        return layer_case(nn::LearnedPositions(5, 3, rng), rng, {{"x", input({2, 2, 3}, rng)}}, f);
      }};
}

nn::NamedTensors queries_keys_values(std::int64_t queries, std::int64_t keys, Rng& rng,
                                     std::int64_t key_heads = 2) {
  return {{"q", input({1, 2, queries, 2}, rng)},
          {"k", input({1, key_heads, keys, 2}, rng)},
          {"v", input({1, key_heads, keys, 2}, rng)}};
}

LayerRow relative_row(const std::string& option, std::int64_t queries, const Tensor& mask,
                      bool values = true, double dropout = 0, std::int64_t key_heads = 2) {
  const std::int64_t distance = 1, d = 2;
  return {"RelativePositions", option, (values ? 2 : 1) * (2 * distance + 1) * d, [=](Rng& rng) {
            const auto f = [=](const nn::RelativePositions& m, const Inputs& in) {
              Rng same(1);
              const TrainingScope training(same);
              return m(in[0], in[1], in[2], mask, dropout);
            };
            return layer_case(nn::RelativePositions(distance, d, rng, {.values = values}), rng,
                              queries_keys_values(queries, 3, rng, key_heads), f);
          }};
}

// Attention with a form of positions that has no weights.
LayerRow attention_row(const std::string& layer, const std::string& option,
                       const CheckedFunction& f) {
  return {layer, option, 0, [=](Rng& rng) {
            return LayerCase{queries_keys_values(2, 3, rng), {}, f};
          }};
}

}  // namespace

std::vector<LayerRow> position_rows() {
  const nn::SinusoidalPositions even(5, 4), odd(5, 3);
  const nn::RotaryPositions rotary(5, 4), narrow(5, 2);
  const Tensor causal = nn::causal_mask(3);
  const auto alibi = [](const Tensor& mask) {
    return [=](const Inputs& in) {
      return nn::attend_by_place(nn::AlibiPositions{}, in[0], in[1], in[2], mask).context;
    };
  };
  return {
      fixed_row("SinusoidalPositions", "", {2, 3, 4}, [=](const Tensor& x) { return even(x); }),
      fixed_row("SinusoidalPositions", "odd width, offset", {2, 3, 3},
                [=](const Tensor& x) { return odd(x, 2); }),
      learned_row("", 0),
      learned_row("offset", 3),
      fixed_row("RotaryPositions", "", {2, 2, 3, 4}, [=](const Tensor& x) { return rotary(x); }),
      fixed_row("RotaryPositions", "offset", {2, 2, 3, 4},
                [=](const Tensor& x) { return rotary(x, 2); }),
      attention_row("RotaryPositions", "attention",
                    [=](const Inputs& in) {
                      return nn::attend_by_place(narrow, in[0], in[1], in[2]).context;
                    }),
      relative_row("clipped", 3, {}),
      relative_row("in the scores alone", 3, {}, false),
      relative_row("causal", 3, causal),
      relative_row("fewer queries than keys", 2, {}),
      relative_row("dropout", 3, {}, true, 0.3),
      relative_row("shared key heads", 3, {}, true, 0, 1),
      attention_row("AlibiPositions", "", alibi({})),
      attention_row("AlibiPositions", "causal", alibi(nn::causal_mask(2, 3))),
  };
}

}  // namespace gradzoo::examples
