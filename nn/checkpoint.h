// Weights of a module in a safetensors file, by name.
#pragma once

#include <map>
#include <string>

#include "nn/module.h"

namespace gradzoo::nn {

using Metadata = std::map<std::string, std::string>;

/// Writes tensors by name (a tied one under each of its names) and metadata strings. Throws naming
/// path and cause; the file appears whole or not at all.
void save_named(const std::string& path, const NamedTensors& tensors, const Metadata& metadata);

/// Overwrites `tensors` with the ones of the same names in the file and returns its metadata.
/// Missing names, unexpected ones and wrong shapes or dtypes are one Error that lists them all;
/// nothing is changed then.
Metadata load_named(const std::string& path, const NamedTensors& tensors);

template <class Module>
void save(const std::string& path, const Module& module, const Metadata& metadata = {}) {
  save_named(path, named_tensors(module), metadata);
}

template <class Module>
Metadata load(const std::string& path, const Module& module) {
  return load_named(path, named_tensors(module));
}

}  // namespace gradzoo::nn
