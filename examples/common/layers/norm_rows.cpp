// Rows of the normalisations: LayerNorm, RmsNorm, BatchNorm, SpectralNorm.
#include "core/scope.h"
#include "examples/common/layers/table.h"
#include "nn/batch_norm.h"
#include "nn/layer_norm.h"
#include "nn/rms_norm.h"
#include "nn/spectral_norm.h"

namespace gradzoo::examples {
namespace {

// Outside training the running statistics count, which a batch has moved away from 0 and 1.
template <class Norm>
LayerRow batch_norm_row(const std::string& layer, const std::string& option, const Shape& x,
                        bool training = true, const nn::BatchNormOptions& options = {}) {
  return {layer, option, options.affine ? 2 * x[1] : 0, [=](Rng& rng) {
            const Norm made(x[1], options);
            {
              const TrainingScope scope(rng);
              made(randn(x, rng) + 0.5);
            }
            const auto f = [=](const Norm& m, const Inputs& in) {
              Rng unused(0);
              if (!training) return m(in[0]);
              const TrainingScope scope(unused);
              return m(in[0]);
            };
            return layer_case(made, rng, {{"x", input(x, rng)}}, f);
          }};
}

// In training its gradient takes the moving u and v as constants: no derivative of what it gives.
LayerRow spectral_norm_row(const std::string& option, const Shape& weight, std::int64_t dim) {
  return {"SpectralNorm", option, weight.numel(), [=](Rng& rng) {
            const nn::SpectralNorm made(nn::parameter(randn(weight, rng)), rng, {.dim = dim});
            const auto f = [](const nn::SpectralNorm& m, const Inputs&) { return m(); };
            return layer_case(made, rng, {}, f);
          }};
}

}  // namespace

std::vector<LayerRow> norm_rows() {
  const auto layer_norm = [](Rng& rng) {
    return layer_case(nn::LayerNorm(5), rng, {{"x", input({2, 2, 5}, rng)}});
  };
  const auto rms_norm = [](Rng& rng) {
    return layer_case(nn::RmsNorm(5), rng, {{"x", input({2, 2, 5}, rng)}});
  };
  return {
      {"LayerNorm", "", 2 * 5, layer_norm},
      {"RmsNorm", "", 5, rms_norm},
      batch_norm_row<nn::BatchNorm1d>("BatchNorm1d", "in training", {4, 3}),
      batch_norm_row<nn::BatchNorm1d>("BatchNorm1d", "of sequences", {2, 3, 2}),
      batch_norm_row<nn::BatchNorm1d>("BatchNorm1d", "not affine", {4, 3}, true, {.affine = false}),
      batch_norm_row<nn::BatchNorm1d>("BatchNorm1d", "outside training", {4, 3}, false),
      batch_norm_row<nn::BatchNorm1d>("BatchNorm1d", "not tracked, outside", {4, 3}, false,
                                      {.track_running_stats = false}),
      batch_norm_row<nn::BatchNorm2d>("BatchNorm2d", "in training", {2, 2, 2, 3}),
      batch_norm_row<nn::BatchNorm2d>("BatchNorm2d", "not affine", {2, 2, 2, 3}, true,
                                      {.affine = false}),
      batch_norm_row<nn::BatchNorm2d>("BatchNorm2d", "outside training", {2, 2, 2, 3}, false),
      spectral_norm_row("of a matrix", {3, 4}, 0),
      spectral_norm_row("of a convolution", {2, 3, 2, 2}, 0),
      spectral_norm_row("of a transposed one", {2, 3, 2, 2}, 1),
  };
}

}  // namespace gradzoo::examples
