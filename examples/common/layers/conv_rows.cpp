// Rows of convolutions, pooling, upsampling and gates.
#include "examples/common/layers/table.h"
#include "nn/conv.h"
#include "nn/image_attention.h"
#include "nn/pool.h"
#include "nn/spectral_norm.h"

namespace gradzoo::examples {
namespace {

LayerRow conv1d_row(const std::string& option, std::int64_t parameters, const Shape& x,
                    const nn::Conv1dLayerOptions& o) {
  return {"Conv1d", option, parameters, [=](Rng& rng) {
            return layer_case(nn::Conv1d(2, 4, 3, rng, o), rng, {{"x", input(x, rng)}});
          }};
}

LayerRow causal_row(const std::string& option, std::int64_t parameters,
                    const nn::CausalConv1dOptions& o) {
  return {
      "CausalConv1d", option, parameters, [=](Rng& rng) {
        return layer_case(nn::CausalConv1d(2, 2, 2, rng, o), rng, {{"x", input({2, 2, 4}, rng)}});
      }};
}

LayerRow conv2d_row(const std::string& option, std::int64_t parameters,
                    const nn::Conv2dLayerOptions& o) {
  return {
      "Conv2d", option, parameters, [=](Rng& rng) {
        return layer_case(nn::Conv2d(2, 2, {2, 3}, rng, o), rng, {{"x", input({2, 2, 3, 5}, rng)}});
      }};
}

LayerRow transpose_row(const std::string& option, std::int64_t parameters,
                       const nn::ConvTranspose2dLayerOptions& o) {
  return {"ConvTranspose2d", option, parameters, [=](Rng& rng) {
            return layer_case(nn::ConvTranspose2d(2, 2, {2, 3}, rng, o), rng,
                              {{"x", input({2, 2, 2, 3}, rng)}});
          }};
}

LayerRow spectral_row(const std::string& option, std::int64_t parameters,
                      const nn::Conv2dLayerOptions& o) {
  return {"SpectralConv2d", option, parameters, [=](Rng& rng) {
            return layer_case(nn::SpectralConv2d(2, 2, {1, 2}, rng, o), rng,
                              {{"x", input({2, 2, 2, 3}, rng)}});
          }};
}

// Three 1x1 convolutions narrow 4 channels to 2, one widens them, and gamma.
template <class Layer>
LayerRow image_row(const std::string& layer, const std::string& option, bool bias = true,
                   bool weights = false) {
  const std::int64_t parameters = 4 * 4 * 2 + (bias ? 3 * 2 + 4 : 0) + 1;
  return {layer, option, parameters, [=](Rng& rng) {
            const auto f = [=](const Layer& m, const Inputs& in) {
              if (!weights) return m(in[0]);
              const nn::Attended got = m.with_weights(in[0]);
              return joined({got.context, got.weights});
            };
            return layer_case(Layer(4, rng, {.reduction = 2, .bias = bias}), rng,
                              {{"x", input({1, 4, 2, 2}, rng)}}, f);
          }};
}

// What has no weights; squared, so that second derivatives are not all 0.
LayerRow function_row(const std::string& layer, const std::string& option, const Shape& x,
                      const std::function<Tensor(const Tensor&)>& f) {
  return {layer, option, 0, [=](Rng& rng) {
            return LayerCase{
                {{"x", input(x, rng)}}, {}, [f](const Inputs& in) { return square(f(in[0])); }};
          }};
}

LayerRow pool1d_row(const std::string& layer, const std::string& option,
                    const nn::Pool1dOptions& o) {
  const auto pool = layer == "max_pool1d" ? nn::max_pool1d : nn::avg_pool1d;
  return function_row(layer, option, {2, 2, 6}, [=](const Tensor& x) { return pool(x, o); });
}

LayerRow pool2d_row(const std::string& layer, const std::string& option, const nn::PoolOptions& o) {
  const auto pool = layer == "max_pool2d" ? nn::max_pool2d : nn::avg_pool2d;
  return function_row(layer, option, {1, 2, 4, 5}, [=](const Tensor& x) { return pool(x, o); });
}

}  // namespace

std::vector<LayerRow> conv_rows() {
  return {
      conv1d_row("", 4 * 2 * 3 + 4, {2, 2, 4}, {}),
      conv1d_row("without bias", 4 * 2 * 3, {2, 2, 4}, {.bias = false}),
      conv1d_row("stride, padding", 4 * 2 * 3 + 4, {2, 2, 5}, {.stride = 2, .padding = 1}),
      conv1d_row("dilation", 4 * 2 * 3 + 4, {2, 2, 6}, {.dilation = 2}),
      conv1d_row("groups", 4 * (2 / 2) * 3 + 4, {2, 2, 4}, {.groups = 2}),
      causal_row("", 2 * 2 * 2 + 2, {}),
      causal_row("dilation", 2 * 2 * 2 + 2, {.dilation = 2}),
      causal_row("groups, without bias", 2 * (2 / 2) * 2, {.groups = 2, .bias = false}),
      conv2d_row("", 2 * 2 * 2 * 3 + 2, {}),
      conv2d_row("without bias", 2 * 2 * 2 * 3, {.bias = false}),
      conv2d_row("stride, padding", 2 * 2 * 2 * 3 + 2, {.stride = {2, 1}, .padding = {1, 0}}),
      conv2d_row("dilation", 2 * 2 * 2 * 3 + 2, {.dilation = {1, 2}}),
      conv2d_row("groups", 2 * (2 / 2) * 2 * 3 + 2, {.groups = 2}),
      transpose_row("", 2 * 2 * 2 * 3 + 2, {}),
      transpose_row("without bias", 2 * 2 * 2 * 3, {.bias = false}),
      transpose_row("stride, padding", 2 * 2 * 2 * 3 + 2, {.stride = {2, 1}, .padding = {0, 1}}),
      transpose_row("output padding", 2 * 2 * 2 * 3 + 2, {.stride = 2, .output_padding = {1, 0}}),
      transpose_row("dilation", 2 * 2 * 2 * 3 + 2, {.dilation = {2, 1}}),
      transpose_row("groups", 2 * (2 / 2) * 2 * 3 + 2, {.groups = 2}),
      spectral_row("", 2 * 2 * 1 * 2 + 2, {}),
      spectral_row("without bias, padding", 2 * 2 * 1 * 2, {.padding = {0, 1}, .bias = false}),
      pool1d_row("max_pool1d", "", {.kernel = 2}),
      pool1d_row("max_pool1d", "overlap, padding", {.kernel = 3, .stride = 1, .padding = 1}),
      pool1d_row("max_pool1d", "dilation", {.kernel = 2, .stride = 2, .dilation = 2}),
      pool2d_row("max_pool2d", "", {.kernel = 2}),
      pool2d_row("max_pool2d", "overlap, padding",
                 {.kernel = 3, .stride = HeightWidth(1, 2), .padding = 1}),
      pool2d_row("max_pool2d", "dilation", {.kernel = 2, .stride = 1, .dilation = {1, 2}}),
      pool2d_row("max_pool2d", "rounded up", {.kernel = 2, .ceil = true}),
      pool1d_row("avg_pool1d", "", {.kernel = 2}),
      pool1d_row("avg_pool1d", "padding counts", {.kernel = 3, .stride = 2, .padding = 1}),
      pool1d_row("avg_pool1d", "padding does not count",
                 {.kernel = 3, .stride = 2, .padding = 1, .count_padding = false}),
      pool2d_row("avg_pool2d", "", {.kernel = 2}),
      pool2d_row("avg_pool2d", "padding counts", {.kernel = {3, 2}, .padding = 1}),
      pool2d_row("avg_pool2d", "padding does not count",
                 {.kernel = {3, 2}, .padding = 1, .count_padding = false}),
      pool2d_row("avg_pool2d", "rounded up", {.kernel = 2, .ceil = true}),
      function_row("upsample_nearest2d", "", {1, 2, 2, 3},
                   [](const Tensor& x) {
                     return nn::upsample_nearest2d(x, {2, 3});
                   }),
      function_row("glu", "last axis", {2, 3, 4}, [](const Tensor& x) { return nn::glu(x); }),
      function_row("glu", "channels", {2, 4, 3}, [](const Tensor& x) { return nn::glu(x, 1); }),
      image_row<nn::ImageAttention>("ImageAttention", ""),
      image_row<nn::ImageAttention>("ImageAttention", "without bias", false),
      image_row<nn::ImageAttention>("ImageAttention", "with weights", true, true),
      image_row<nn::SpectralImageAttention>("SpectralImageAttention", ""),
  };
}

}  // namespace gradzoo::examples
