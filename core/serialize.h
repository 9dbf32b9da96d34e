// Tensors in files: the safetensors format.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace gradzoo {

/// Tensors by name, in order, with metadata strings.
struct TensorFile {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> metadata;

  /// The tensor of that name; undefined when there is none.
  Tensor find(const std::string& name) const;
};

/// Writes a safetensors file: to a temporary name beside it, flushed to disk, then renamed, so that
/// a crash leaves the old file or the new one. Throws naming path and cause; duplicate names are
/// refused.
void save_tensors(const std::string& path, const TensorFile& file);

/// Reads a safetensors file. A broken one is an Error naming the path and what is wrong; nothing is
/// allocated from a size that the file has not been checked to hold.
TensorFile load_tensors(const std::string& path);

}  // namespace gradzoo
