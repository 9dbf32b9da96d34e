// Rows of losses.
#include "examples/common/layers/table.h"
#include "nn/loss.h"

namespace gradzoo::examples {
namespace {

// The loss of logits of two sequences of three tokens in four classes; 0 stands for padding.
LayerRow entropy_row(const std::string& layer, const std::string& option,
                     const CheckedFunction& loss) {
  return {layer, option, 0, [=](Rng& rng) {
            const nn::NamedTensors inputs{{"logits", input({2, 3, 4}, rng)},
                                          {"targets", tensor({{1, 3, 0}, {2, 0, 0}}, DType::i64)}};
            return LayerCase{inputs, {}, loss};
          }};
}

LayerRow cross_entropy_row(const std::string& option, const CrossEntropyOptions& o) {
  return entropy_row("cross_entropy", option,
                     [=](const Inputs& in) { return cross_entropy(in[0], in[1], o); });
}

LayerRow sequence_row(const std::string& option, double smoothing) {
  return entropy_row("sequence_cross_entropy", option, [=](const Inputs& in) {
    return nn::sequence_cross_entropy(in[0], in[1], {.label_smoothing = smoothing});
  });
}

}  // namespace

// The hinge losses are squared here: second derivatives of their own are all 0.
std::vector<LayerRow> loss_rows() {
  return {
      cross_entropy_row("", {}),
      cross_entropy_row("ignore_index", {.ignore_index = 0}),
      cross_entropy_row("label smoothing", {.label_smoothing = 0.1}),
      cross_entropy_row("ignore_index, smoothing", {.ignore_index = 0, .label_smoothing = 0.1}),
      cross_entropy_row("sum", {.reduction = Reduction::sum}),
      cross_entropy_row("no reduction", {.reduction = Reduction::none}),
      sequence_row("", 0),
      sequence_row("label smoothing", 0.1),
      {"hinge_discriminator_loss", "", 0,
       [](Rng& rng) {
         const auto f = [](const Inputs& in) {
           return square(nn::hinge_discriminator_loss(in[0], in[1]));
         };
         return LayerCase{{{"real", input({4}, rng)}, {"fake", input({5}, rng)}}, {}, f};
       }},
      {"hinge_generator_loss", "", 0,
       [](Rng& rng) {
         const auto f = [](const Inputs& in) { return square(nn::hinge_generator_loss(in[0])); };
         return LayerCase{{{"fake", input({5}, rng)}}, {}, f};
       }},
  };
}

}  // namespace gradzoo::examples
