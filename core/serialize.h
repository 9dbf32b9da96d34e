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
/// a crash leaves the old file or the new one. The elements are written, whatever the strides;
/// tensors that share memory (tied weights) are written once under each of their names. Throws
/// naming path and cause, and for a name that is used twice.
void save_tensors(const std::string& path, const TensorFile& file);

/// Reads a safetensors file: leaves without gradient, in the order of the header. F16 and BF16
/// become f32, integers of up to 32 bits i64, all exactly. A broken file is an Error naming the
/// path and what is wrong; nothing is allocated from a size that the file was not checked to hold.
TensorFile load_tensors(const std::string& path);

/// The metadata alone: reads the header, checks it as load_tensors does, and no tensor.
std::map<std::string, std::string> load_metadata(const std::string& path);

}  // namespace gradzoo
