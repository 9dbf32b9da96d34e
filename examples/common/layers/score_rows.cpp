// Rows of the attention scores, and of how they become weights and a context.
#include <limits>

#include "examples/common/layers/table.h"
#include "nn/attend.h"
#include "nn/mask.h"
#include "nn/scores.h"

namespace gradzoo::examples {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// A score of a sequence of queries and of the one query of a decoder step.
template <class Make>
void add_score(std::vector<LayerRow>& rows, const std::string& layer, std::int64_t d_q,
               std::int64_t d_k, std::int64_t parameters, const Make& make) {
  const auto row = [&](const std::string& option, const Shape& query) {
    rows.push_back(
        {layer, option, parameters, [=](Rng& rng) {
           const auto f = [](const auto& m, const Inputs& in) { return m(in[0], in[1]); };
           return layer_case(make(rng), rng,
                             {{"query", input(query, rng)}, {"keys", input({2, 3, d_k}, rng)}}, f);
         }});
  };
  const std::string widths = d_q == d_k ? "" : ", wider keys";
  row("sequence" + widths, {2, 2, d_q});
  row("decoder step" + widths, {2, d_q});
}

LayerRow attend_row(const std::string& option, const Tensor& mask, nn::Normalizer normalizer) {
  return {"attend", option, 0, [=](Rng& rng) {
            const auto f = [=](const Inputs& in) {
              const nn::Attended got = nn::attend(in[0], in[1], mask, normalizer);
              return joined({got.context, got.weights});
            };
            const nn::NamedTensors inputs{{"scores", input({2, 2, 3}, rng)},
                                          {"values", input({2, 3, 2}, rng)}};
            return LayerCase{inputs, {}, f};
          }};
}

// A float mask is an input like any other: -inf hides, the rest is learned.
LayerRow float_mask_row(const std::string& option, nn::Normalizer normalizer) {
  return {"attend", option, 0, [=](Rng& rng) {
            const Tensor hidden = tensor({{0, 1, 0}, {0, 0, 0}}, DType::boolean);
            const auto f = [=](const Inputs& in) {
              const Tensor mask = masked_fill(in[2], hidden, kNever);
              const nn::Attended got = nn::attend(in[0], in[1], mask, normalizer);
              return joined({got.context, got.weights});
            };
            const nn::NamedTensors inputs{{"scores", input({2, 2, 3}, rng)},
                                          {"values", input({2, 3, 2}, rng)},
                                          {"mask", input({2, 3}, rng)}};
            return LayerCase{inputs, {}, f};
          }};
}

}  // namespace

std::vector<LayerRow> score_rows() {
  std::vector<LayerRow> rows;
  add_score(rows, "DotScore", 3, 3, 0, [](Rng&) { return nn::DotScore(); });
  add_score(rows, "ScaledDotScore", 3, 3, 0, [](Rng&) { return nn::ScaledDotScore(); });
  for (const std::int64_t d_k : {3, 4}) {
    add_score(rows, "GeneralScore", 3, d_k, 3 * d_k,
              [=](Rng& rng) { return nn::GeneralScore(3, d_k, rng); });
  }
  for (const std::int64_t d_k : {3, 4}) {
    add_score(rows, "ReducedRankScore", 3, d_k, 2 * (3 + d_k),
              [=](Rng& rng) { return nn::ReducedRankScore(3, d_k, 2, rng); });
  }
  for (const std::int64_t d_k : {3, 4}) {
    add_score(rows, "AdditiveScore", 3, d_k, 2 * (3 + d_k + 1),
              [=](Rng& rng) { return nn::AdditiveScore(3, d_k, 2, rng); });
  }
  const Tensor padding = nn::padding_mask(tensor({3, 2}, DType::i64), 3);
  const Tensor blind = tensor({{1, 0, 1}, {0, 0, 0}}, DType::boolean);
  for (const auto& [name, normalizer] :
       {std::pair("softmax", nn::Normalizer::softmax), std::pair("relu", nn::Normalizer::relu)}) {
    const std::string option = name;
    rows.push_back(attend_row(option, {}, normalizer));
    rows.push_back(attend_row(option + ", padding mask", padding, normalizer));
    rows.push_back(attend_row(option + ", a blind query", blind, normalizer));
    rows.push_back(float_mask_row(option + ", float mask", normalizer));
  }
  return rows;
}

}  // namespace gradzoo::examples
