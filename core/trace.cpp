// A record of everything that was computed while it was open.
#include "core/trace.h"

#include <cstring>

#include "core/ops/view.h"

namespace gradzoo {

void Trace::add(TraceStep step) {
  if (outer_ != nullptr) outer_->add(step);
  steps_.push_back(std::move(step));
}

void Trace::nudge(const Tensor& out, const Op& op) {
  if (!nudge_ || nudge_->step != steps_.size()) return;
  check(is_floating(out.dtype()), "nudge: step {} is '{}', which puts out {}, not f32 or f64",
        nudge_->step, op.name, out.dtype());
  check(nudge_->element >= 0 && nudge_->element < out.numel(),
        "nudge: step {} is '{}', which puts out shape {}: there is no element {}", nudge_->step,
        op.name, out.shape(), nudge_->element);
  const Tensor own = empty(out.shape(), out.dtype());
  copy_into(own, out);
  if (own.dtype() == DType::f32) {
    mutable_data<float>(own)[nudge_->element] += static_cast<float>(nudge_->amount);
  } else {
    mutable_data<double>(own)[nudge_->element] += nudge_->amount;
  }
  // In place: whoever called record() may hold other handles to this tensor.
  TensorImpl& impl = out.impl();
  impl.storage = own.impl().storage;
  impl.strides = own.strides();
  impl.offset = 0;
  nudged_ = true;
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
