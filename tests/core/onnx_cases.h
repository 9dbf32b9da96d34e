// ONNX's operator test vectors as tensors, and the table of the operators we can run.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/ops.h"

namespace gradzoo::test {

using Tensors = std::vector<Tensor>;

/// One case. Element types that we do not have are held by the next larger one: integers by i64,
/// half precision by f32. An optional input or output that is not there is undefined.
struct OnnxCase {
  std::string name, op;
  nlohmann::json attrs;
  Tensors inputs, outputs;
  bool half = false;    ///< in half precision: compare with its tolerance
  bool random = false;  ///< compare shapes only

  bool has(const char* attr) const { return attrs.contains(attr); }
  std::int64_t integer(const char* attr, std::int64_t otherwise) const {
    return attrs.value(attr, otherwise);
  }
  double number(const char* attr, double otherwise) const { return attrs.value(attr, otherwise); }
  std::string text(const char* attr, const char* otherwise) const {
    return attrs.value(attr, std::string(otherwise));
  }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  const Tensor& in(std::size_t i) const { return inputs.at(i); }
  /// The elements of an input that lists axes, sizes or the like.
  std::vector<std::int64_t> list(std::size_t i) const {
    return to(inputs.at(i), DType::i64).to_vector<std::int64_t>();
  }
  Shape shape(std::size_t i) const {
    const std::vector<std::int64_t> values = list(i);
    return Shape(std::span<const std::int64_t>(values));
  }
};

/// The folder with vectors.json and vectors.safetensors: GRADZOO_ONNX_DIR, or shared/onnx in or
/// beside the source tree. Empty when there is none.
std::string onnx_folder();

/// All cases of the folder.
std::vector<OnnxCase> read_onnx_cases(const std::string& folder);

/// From an operator's name to our ops with its attributes applied.
using OnnxOps = std::map<std::string, std::function<Tensors(const OnnxCase&)>>;
/// From a name to why it is not run.
using OnnxReasons = std::map<std::string, std::string>;

/// Operators that belong together, and those of their cases that cannot be run.
struct OnnxFamily {
  OnnxOps ops;
  OnnxReasons not_applicable;  ///< by the name of the case
};

OnnxFamily onnx_elementwise_ops();
OnnxFamily onnx_shape_ops();
OnnxFamily onnx_reduce_ops();
OnnxFamily onnx_norm_ops();
OnnxFamily onnx_conv_ops();

}  // namespace gradzoo::test
