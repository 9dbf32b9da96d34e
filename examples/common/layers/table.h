// The table of layers: each layer of nn/ once, and once more for every option that changes its
// formula. examples/gradients.cpp prints it, tests/examples/gradients_test.cpp tests it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/gradcheck.h"
#include "core/ops.h"
#include "nn/clone.h"
#include "nn/module.h"

namespace gradzoo::examples {

/// A small layer in f64, what it is called with, and the call.
struct LayerCase {
  nn::NamedTensors inputs;   ///< as the function takes them; ids and masks among them
  nn::NamedTensors weights;  ///< the parameters, which the function finds by itself
  CheckedFunction f;
};

struct LayerRow {
  std::string layer;        ///< its name in nn/ (or that of a function there)
  std::string option;       ///< what tells rows of one layer apart
  std::int64_t parameters;  ///< their number, worked out on paper
  std::function<LayerCase(Rng&)> make;
};

/// The rows of each family.
std::vector<LayerRow> attention_rows();
std::vector<LayerRow> conv_rows();
std::vector<LayerRow> linear_rows();
std::vector<LayerRow> loss_rows();
std::vector<LayerRow> norm_rows();
std::vector<LayerRow> position_rows();
std::vector<LayerRow> recurrent_rows();
std::vector<LayerRow> score_rows();
std::vector<LayerRow> transformer_rows();

/// All of them, families in the order of docs and README: from the simple to the composed.
std::vector<LayerRow> layer_table();

// What the families share.

using Inputs = std::vector<Tensor>;

/// A random f64 input.
inline Tensor input(const Shape& shape, Rng& rng) { return randn(shape, rng, DType::f64); }

/// Several outputs as one, so that none escapes the check.
Tensor joined(const std::vector<Tensor>& outputs);

/// A case of f(module, inputs) for a module in f64. Its parameters are moved to random values
/// around those they start with: at 0 and 1 many mistakes do not show.
template <class Module, class F>
LayerCase layer_case(const Module& made, Rng& rng, const nn::NamedTensors& inputs, const F& f) {
  const Module module = nn::to(made, DType::f64);
  const nn::NamedTensors weights = nn::named_parameters(module);
  for (const auto& [name, weight] : weights) {
    assign(weight, weight.detach() + 0.3 * randn(weight.shape(), rng, DType::f64));
  }
  return {inputs, weights, [module, f](const Inputs& in) { return f(module, in); }};
}

/// The same for layers that are called with their one input.
template <class Module>
LayerCase layer_case(const Module& made, Rng& rng, const nn::NamedTensors& inputs) {
  return layer_case(made, rng, inputs, [](const Module& m, const Inputs& in) { return m(in[0]); });
}

}  // namespace gradzoo::examples
