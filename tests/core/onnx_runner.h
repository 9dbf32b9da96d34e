// Runs ONNX's test vectors through a family of operators: core/onnx_test.cpp runs those that are
// ops, nn/onnx_*_test.cpp those that are layers.
#pragma once

#include <string>
#include <vector>

#include "tests/core/onnx_cases.h"

namespace gradzoo::test {

/// The cases of the folder, read once; none when there is no folder, with a MESSAGE.
const std::vector<OnnxCase>& onnx_cases();

struct OnnxCounts {
  std::size_t ran = 0, listed = 0;
};

/// CHECKs every case of the family's operators, or that it is listed as not applicable; nothing
/// may be listed that does not exist. Says how many there were.
OnnxCounts run_onnx_family(const std::string& name, const OnnxFamily& family);

}  // namespace gradzoo::test
