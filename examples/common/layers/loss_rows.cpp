// Rows of losses.
#include "examples/common/layers/table.h"

namespace gradzoo::examples {
namespace {

LayerRow cross_entropy_row(const std::string& option, const CrossEntropyOptions& o) {
  return {"cross_entropy", option, 0, [=](Rng& rng) {
            const auto f = [=](const Inputs& in) { return cross_entropy(in[0], in[1], o); };
            const nn::NamedTensors inputs{{"logits", input({2, 3, 4}, rng)},
                                          {"targets", tensor({{1, 3, 0}, {2, 0, 0}}, DType::i64)}};
            return LayerCase{inputs, {}, f};
          }};
}

}  // namespace

std::vector<LayerRow> loss_rows() {
  return {
      cross_entropy_row("", {}),
      cross_entropy_row("ignore_index", {.ignore_index = 0}),
      cross_entropy_row("label smoothing", {.label_smoothing = 0.1}),
      cross_entropy_row("ignore_index, smoothing", {.ignore_index = 0, .label_smoothing = 0.1}),
      cross_entropy_row("sum", {.reduction = Reduction::sum}),
      cross_entropy_row("no reduction", {.reduction = Reduction::none}),
  };
}

}  // namespace gradzoo::examples
