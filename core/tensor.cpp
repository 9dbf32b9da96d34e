// Tensor: inspection, leaves and their gradients, and the one mutator.
#include "core/tensor.h"

#include "core/node.h"
#include "core/ops/layout.h"
#include "core/trace.h"

namespace gradzoo {
namespace {

double element(const TensorImpl& impl, std::int64_t position) {
  const void* data = impl.storage->data();
  switch (impl.dtype) {
    case DType::f32:
      return static_cast<const float*>(data)[position];
    case DType::f64:
      return static_cast<const double*>(data)[position];
    case DType::i64:
      return static_cast<double>(static_cast<const std::int64_t*>(data)[position]);
    case DType::boolean:
      return static_cast<const bool*>(data)[position] ? 1.0 : 0.0;
  }
  return 0;
}

}  // namespace

std::int64_t Tensor::size(std::int64_t axis) const {
  return shape()[normalize_axis("size", axis, dim())];
}

bool Tensor::is_contiguous() const {
  std::int64_t step = 1;
  for (int i = dim() - 1; i >= 0; --i) {
    if (shape()[i] == 0) return true;
    if (shape()[i] != 1 && strides()[i] != step) return false;
    step *= shape()[i];
  }
  return true;
}

double Tensor::item() const {
  check(numel() == 1, "item: the tensor must have one element, its shape is {}", shape());
  return element(impl(), impl().offset);
}

double Tensor::at(std::initializer_list<std::int64_t> index) const {
  const Shape position(index);
  check(position.rank() == dim(), "at: the index {} must have one number for each axis of {}",
        position, shape());
  std::int64_t offset = impl().offset;
  for (int i = 0; i < dim(); ++i) {
    check(position[i] >= 0 && position[i] < shape()[i], "at: the index {} is outside shape {}",
          position, shape());
    offset += position[i] * strides()[i];
  }
  return element(impl(), offset);
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor packed = row_major(*this);
  const T* values = packed.data<T>();
  return std::vector<T>(values, values + packed.numel());
}
template std::vector<float> Tensor::to_vector<float>() const;
template std::vector<double> Tensor::to_vector<double>() const;
template std::vector<std::int64_t> Tensor::to_vector<std::int64_t>() const;
template std::vector<bool> Tensor::to_vector<bool>() const;

Tensor& Tensor::requires_grad_(bool wanted) {
  check(is_floating(dtype()), "requires_grad_: only f32 and f64 can have gradients, not {}",
        dtype());
  check(is_leaf(), "requires_grad_: the tensor is the output of '{}', not a leaf",
        node() ? node()->op.name : "");
  if (!wanted) {
    impl_->node = nullptr;
  } else if (impl_->node == nullptr) {
    impl_->node = make_leaf(impl_);
  }
  return *this;
}

bool Tensor::is_leaf() const { return node() == nullptr || node()->is_leaf; }

Tensor Tensor::grad() const {
  return node() != nullptr && node()->is_leaf ? node()->grad : Tensor();
}

void Tensor::set_grad(const Tensor& gradient) {
  if (node() == nullptr && !gradient.defined()) return;
  check(node() != nullptr && node()->is_leaf,
        "set_grad: only a leaf that requires a gradient can be given one");
  if (gradient.defined()) {
    check(gradient.shape() == shape() && gradient.dtype() == dtype(),
          "set_grad: the gradient is {} {}, the tensor {} {}", gradient.dtype(), gradient.shape(),
          dtype(), shape());
  }
  node()->grad = gradient.defined() ? gradient.detach() : Tensor();
}

Tensor Tensor::detach() const { return view_of(*this, shape(), strides(), impl().offset); }

Tensor empty(const Shape& shape, DType dtype) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage =
      std::make_shared<Storage>(static_cast<std::size_t>(shape.numel()) * size_of(dtype));
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor view_of(const Tensor& base, const Shape& shape, const Shape& strides, std::int64_t offset) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = base.impl().storage;
  impl->shape = shape;
  impl->strides = strides;
  impl->offset = offset;
  impl->dtype = base.dtype();
  return Tensor(std::move(impl));
}

void assign(const Tensor& leaf, const Tensor& value) {
  check(leaf.is_leaf(), "assign: the tensor is the output of '{}', only a leaf can be overwritten",
        leaf.node() ? leaf.node()->op.name : "");
  check(leaf.shape() == value.shape() && leaf.dtype() == value.dtype(),
        "assign: the value is {} {}, the tensor {} {}", value.dtype(), value.shape(), leaf.dtype(),
        leaf.shape());
  for (int i = 0; i < leaf.dim(); ++i) {
    check(leaf.strides()[i] != 0 || leaf.shape()[i] <= 1,
          "assign: the tensor is expanded along axis {}: several elements share one place", i);
  }
  // A value in the same memory may overlap the target: take it out of the way first.
  Tensor source = value;
  if (leaf.impl().storage == value.impl().storage) {
    source = empty(value.shape(), value.dtype());
    copy_into(source, value);
  }
  begin_overwrite(leaf);
  copy_into(leaf, source);
}

void begin_overwrite(const Tensor& tensor) {
  const StoragePtr& storage = tensor.impl().storage;
  if (modes().trace != nullptr) modes().trace->keep_values(storage);
  storage->bump_version();
}

}  // namespace gradzoo
