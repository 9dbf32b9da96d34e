// Comparing a file's tensors with a module's before any of them is overwritten.
#include "nn/checkpoint.h"

#include <unordered_set>

#include "core/scope.h"
#include "core/serialize.h"

namespace gradzoo::nn {
namespace {

// Everything that keeps `file` from being loaded into `tensors`, as one list; empty: nothing.
std::string differences(const TensorFile& file, const NamedTensors& tensors) {
  std::string text;
  const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "; ") + line; };
  std::unordered_set<std::string> known;
  for (const auto& [name, tensor] : tensors) {
    known.insert(name);
    const Tensor found = file.find(name);
    if (!found.defined()) {
      add(fmt::format("'{}' is missing", name));
    } else if (found.shape() != tensor.shape() || found.dtype() != tensor.dtype()) {
      add(fmt::format("'{}' is {} {} in the file, {} {} in the module", name, found.dtype(),
                      found.shape(), tensor.dtype(), tensor.shape()));
    }
  }
  for (const auto& [name, tensor] : file.tensors) {
    if (!known.contains(name)) add(fmt::format("'{}' is not expected", name));
  }
  return text;
}

}  // namespace

void save_named(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  save_tensors(path, {tensors, metadata});
}

Metadata load_named(const std::string& path, const NamedTensors& tensors) {
  TensorFile file = load_tensors(path);
  const std::string wrong = differences(file, tensors);
  check(wrong.empty(), "{}: does not fit the module: {}", path, wrong);
  for (const auto& [name, tensor] : tensors) assign(tensor, file.find(name));
  return std::move(file.metadata);
}

}  // namespace gradzoo::nn
