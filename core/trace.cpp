// A record of everything that was computed while it was open.
#include "core/trace.h"

#include <cstring>

namespace gradzoo {

void Trace::add(TraceStep step) {
  if (outer_ != nullptr) outer_->add(step);
  steps_.push_back(std::move(step));
}

void Trace::keep_values(const StoragePtr& storage) {
  // The outermost trace has the steps of all others, and they share their tensors.
  if (outer_ != nullptr) return outer_->keep_values(storage);
  StoragePtr copy;
  const auto keep = [&](const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
      if (!tensor.defined() || tensor.impl().storage != storage) continue;
      if (copy == nullptr) {
        copy = std::make_shared<Storage>(storage->bytes());
        std::memcpy(copy->data(), storage->data(), storage->bytes());
      }
      tensor.impl().storage = copy;
    }
  };
  for (const TraceStep& step : steps_) {
    keep(step.inputs);
    keep(step.outputs);
  }
}

}  // namespace gradzoo
