// ONNX's operator test vectors through our ops.
#include <doctest/doctest.h>

#include "tests/core/onnx_runner.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// Operators that the core does not have, and why, or where they are run.
const OnnxReasons kNotOurs = {
    {"Adagrad", "an optimizer: tests/optim/onnx_test.cpp"},
    {"Attention", "a layer: tests/nn/onnx_attention_test.cpp"},
    {"BatchNormalization", "a layer: tests/nn/onnx_norm_test.cpp"},
    {"Erf", "no op: used inside gelu only"},
    {"GatherND", "no indexing by index vectors"},
    {"LSTM", "a layer: tests/nn/onnx_recurrent_test.cpp"},
    {"Momentum", "an optimizer: tests/optim/onnx_test.cpp"},
    {"RNN", "a layer: tests/nn/onnx_recurrent_test.cpp"},
    {"ReverseSequence", "no op: a flip with a length for each row"},
    {"RotaryEmbedding", "a layer: tests/nn/onnx_attention_test.cpp"},
    {"ScatterND", "no indexing by index vectors"},
    {"Upsample", "a layer: tests/nn/pool_test.cpp"},
};

}  // namespace

TEST_CASE("ONNX operator test vectors") {
  const std::map<std::string, OnnxFamily> families = {
      {"elementwise", onnx_elementwise_ops()}, {"shapes", onnx_shape_ops()},
      {"reductions", onnx_reduce_ops()},       {"norms and losses", onnx_norm_ops()},
      {"convolution", onnx_conv_ops()},
  };
  std::size_t ran = 0;
  for (const auto& [name, family] : families) ran += run_onnx_family(name, family).ran;
  for (const OnnxCase& one : onnx_cases()) {
    std::size_t owners = kNotOurs.count(one.op);
    for (const auto& [name, family] : families) owners += family.ops.count(one.op);
    CHECK_MESSAGE(owners == 1, one.name << ": neither run nor listed, or both: " << one.op);
  }
  if (!onnx_cases().empty()) CHECK(ran > 300);
}
