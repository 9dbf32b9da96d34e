// ONNX's BatchNormalization and RMSNormalization through our layers.
#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/batch_norm.h"
#include "nn/rms_norm.h"
#include "tests/core/onnx_runner.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// Also gives the running statistics. ONNX's variance is the biased one there too, and its momentum
// is the share of the old value.
Tensors batch_normalised(const OnnxCase& c) {
  const std::int64_t channels = c.in(0).size(1);
  const double kept = c.number("momentum", 0.9);
  nn::BatchNorm2d layer(channels, {.eps = c.number("epsilon", 1e-5), .momentum = 1 - kept});
  assign(layer.weight, c.in(1));
  assign(layer.bias, c.in(2));
  assign(layer.running_mean, c.in(3));
  assign(layer.running_var, c.in(4));
  if (c.integer("training_mode", 0) == 0) return {layer(c.in(0))};
  Rng rng(1);
  const TrainingScope training(rng);
  const Tensor y = layer(c.in(0));
  const double n = static_cast<double>(c.in(0).numel() / channels);
  const Tensor old = c.in(4) * kept;
  return {y, layer.running_mean, old + (layer.running_var - old) * ((n - 1) / n)};
}

// All axes from `axis` on as one.
Tensors rms_normalised(const OnnxCase& c) {
  nn::RmsNorm layer(c.in(1).numel());
  layer.eps = c.number("epsilon", 1e-5);
  assign(layer.weight, reshape(c.in(1), {c.in(1).numel()}));
  return {reshape(layer(reshape(c.in(0), {-1, c.in(1).numel()})), c.in(0).shape())};
}

}  // namespace

TEST_CASE("ONNX: BatchNormalization, RMSNormalization") {
  OnnxFamily family;
  family.ops["BatchNormalization"] = batch_normalised;
  family.ops["RMSNormalization"] = rms_normalised;
  const OnnxCounts counts = run_onnx_family("layers that normalise", family);
  if (!onnx_cases().empty()) CHECK(counts.ran == 14);
}
