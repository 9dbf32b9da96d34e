// Runs ONNX's operator test vectors through our ops. Without the vectors there is nothing to do.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/onnx_cases.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// Operators that the core does not have, and why.
const std::map<std::string, std::string> kNotOurs = {
    {"Adagrad", "an optimizer"},
    {"Attention", "comes with the attention layers"},
    {"BatchNormalization", "no op: a layer with state"},
    {"Erf", "no op: used inside gelu only"},
    {"GatherND", "no indexing by index vectors"},
    {"LSTM", "comes with the recurrent layers"},
    {"Momentum", "an optimizer"},
    {"RNN", "comes with the recurrent layers"},
    {"ReverseSequence", "no op: a flip with a length for each row"},
    {"RotaryEmbedding", "comes with the attention layers"},
    {"ScatterND", "no indexing by index vectors"},
    {"Upsample", "images only"},
};

// Single cases of operators that we do have, and why they differ.
const std::map<std::string, std::string> kNotApplicable = {
    {"averagepool_2d_ceil", "windows that the end cuts off are not read"},
    {"averagepool_2d_ceil_last_window_starts_on_pad", "recorded with four digits only"},
    {"averagepool_2d_same_lower", "zeros on one side only count in a mean"},
    {"averagepool_2d_same_upper", "zeros on one side only count in a mean"},
    {"averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True", "three axes"},
    {"convtranspose_3d", "three axes"},
    {"maxpool_2d_ceil", "windows that the end cuts off are not read"},
    {"maxpool_2d_uint8", "max pooling is for floats"},
    {"maxpool_3d_default", "three axes"},
    {"maxpool_3d_dilations_use_ref_impl", "three axes"},
    {"maxpool_3d_dilations_use_ref_impl_large", "three axes"},
    {"maxpool_with_argmax_2d_precomputed_pads", "no positions beside the values"},
    {"maxpool_with_argmax_2d_precomputed_strides", "no positions beside the values"},
    {"clip_min_greater_than_max", "clamp refuses low > high"},
    {"edge_pad", "pad fills with a constant"},
    {"reflect_pad", "pad fills with a constant"},
    {"wrap_pad", "pad fills with a constant"},
    {"onehot_out_of_range_indices", "one_hot refuses ids outside the classes"},
    {"reduce_max_empty_set", "max of nothing is an error"},
    {"reduce_min_empty_set", "min of nothing is an error"},
    {"scatter_elements_with_reduction_max", "scatter_add only adds"},
};

std::vector<double> numbers(const Tensor& x) {
  return (is_floating(x.dtype()) ? to(x, DType::f64) : to(to(x, DType::i64), DType::f64))
      .to_vector<double>();
}

// Empty when the result is right to the tolerance; ONNX's own runner allows 100 times as much.
std::string compare(const OnnxCase& one, const Tensor& got, const Tensor& wanted) {
  if (got.shape() != wanted.shape()) {
    return fmt::format("shape {}, must be {}", got.shape(), wanted.shape());
  }
  if (got.dtype() != wanted.dtype()) {
    return fmt::format("dtype {}, must be {}", got.dtype(), wanted.dtype());
  }
  if (one.random) return "";
  const std::vector<double> a = numbers(got), b = numbers(wanted);
  const double rtol = one.half ? 1e-3 : 1e-5;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::abs(a[i] - b[i]) <= 1e-7 + rtol * std::abs(b[i])) continue;
    return fmt::format("{:.9g} at {}, must be {:.9g}", a[i],
                       unravel_index(static_cast<std::int64_t>(i), got.shape()), b[i]);
  }
  return "";
}

void run(const OnnxCase& one, const OnnxOps& ops) {
  INFO("ONNX case ", one.name, " (", one.op, " ", one.attrs.dump(), ")");
  try {
    const Tensors results = ops.at(one.op)(one);
    REQUIRE(results.size() >= one.outputs.size());
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
      const std::string problem = compare(one, results[i], one.outputs[i]);
      CHECK_MESSAGE(problem.empty(), "output " << i << ": " << problem);
    }
  } catch (const std::exception& error) {
    FAIL_CHECK("threw: " << error.what());
  }
}

}  // namespace

TEST_CASE("ONNX operator test vectors") {
  const std::string folder = onnx_folder();
  if (folder.empty()) {
    MESSAGE("skipped: the ONNX vectors are in no shared/onnx, nor where GRADZOO_ONNX_DIR says");
    return;
  }
  OnnxOps ops;
  add_onnx_elementwise_ops(ops);
  add_onnx_shape_ops(ops);
  add_onnx_reduce_ops(ops);
  add_onnx_norm_ops(ops);
  add_onnx_conv_ops(ops);
  std::size_t ran = 0, listed = 0;
  std::map<std::string, std::string> exceptions = kNotApplicable;
  for (const OnnxCase& one : read_onnx_cases(folder)) {
    const bool excepted = exceptions.erase(one.name) == 1;
    if (kNotOurs.count(one.op) == 1 || excepted) {
      CHECK_MESSAGE((ops.count(one.op) == 1) == excepted, one.name << ": listed and run");
      ++listed;
      continue;
    }
    CHECK_MESSAGE(ops.count(one.op) == 1, one.name << ": neither run nor listed: " << one.op);
    if (ops.count(one.op) == 0) continue;
    run(one, ops);
    ++ran;
  }
  MESSAGE("ONNX: " << ran << " cases run, " << listed << " listed as not applicable");
  CHECK(ran > 300);
  for (const auto& [name, reason] : exceptions) {
    FAIL_CHECK("exception for a case that does not exist: " << name);
  }
}
