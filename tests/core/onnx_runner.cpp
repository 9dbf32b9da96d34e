// Runs ONNX's test vectors. Without the vectors there is nothing to do.
#include "tests/core/onnx_runner.h"

#include <doctest/doctest.h>

#include <cmath>

namespace gradzoo::test {
namespace {

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

// An output that the case does not have is undefined.
void run(const OnnxCase& one, const OnnxOps& ops) {
  INFO("ONNX case ", one.name, " (", one.op, " ", one.attrs.dump(), ")");
  try {
    const Tensors results = ops.at(one.op)(one);
    REQUIRE(results.size() >= one.outputs.size());
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
      if (!one.outputs[i].defined()) continue;
      const std::string problem = compare(one, results[i], one.outputs[i]);
      CHECK_MESSAGE(problem.empty(), "output " << i << ": " << problem);
    }
  } catch (const std::exception& error) {
    FAIL_CHECK("threw: " << error.what());
  }
}

}  // namespace

const std::vector<OnnxCase>& onnx_cases() {
  static const std::vector<OnnxCase> cases = [] {
    const std::string folder = onnx_folder();
    return folder.empty() ? std::vector<OnnxCase>() : read_onnx_cases(folder);
  }();
  if (cases.empty()) {
    MESSAGE("skipped: the ONNX vectors are in no shared/onnx, nor where GRADZOO_ONNX_DIR says");
  }
  return cases;
}

OnnxCounts run_onnx_family(const std::string& name, const OnnxFamily& family) {
  OnnxCounts counts;
  const std::vector<OnnxCase>& cases = onnx_cases();
  if (cases.empty()) return counts;
  OnnxReasons unused = family.not_applicable;
  for (const OnnxCase& one : cases) {
    if (family.ops.count(one.op) == 0) continue;
    if (unused.erase(one.name) == 1) {
      ++counts.listed;
      continue;
    }
    run(one, family.ops);
    ++counts.ran;
  }
  for (const auto& [listed, reason] : unused) {
    FAIL_CHECK(name << ": exception for a case that does not exist: " << listed);
  }
  MESSAGE("ONNX, " << name << ": " << counts.ran << " cases run, " << counts.listed
                   << " listed as not applicable");
  return counts;
}

}  // namespace gradzoo::test
