// What a module consists of, as a table for people.
#pragma once

#include <string>

#include "nn/module.h"

namespace gradzoo::nn {

/// The table of summary() for these tensors.
std::string summary_named(const NamedTensors& tensors);

/// A line for each parameter (name, shape, how many numbers) and their total, then the same for
/// buffers, the tensors that are not trained, if there are any:
///
///     parameter           shape  count
///     embedding.weight  [20, 8]    160
///     out.weight        [20, 8]         tied to embedding.weight
///     out.bias             [20]     20
///     total                        180
///
/// A tied tensor is counted once, where its first name is.
template <class Module>
std::string summary(const Module& module) {
  return summary_named(named_tensors(module));
}

}  // namespace gradzoo::nn
