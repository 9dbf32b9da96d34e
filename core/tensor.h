// The tensor: a shared handle to numbers in memory and, when it has a history, to its graph node.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/shape.h"
#include "core/storage.h"

namespace gradzoo {

struct Node;

/// What a Tensor points at. Strides and offset count elements, not bytes.
struct TensorImpl {
  StoragePtr storage;
  Shape shape;
  Shape strides;
  std::int64_t offset = 0;
  DType dtype = DType::f32;
  std::shared_ptr<Node> node;  ///< null: neither a leaf that wants a gradient nor has a history
};

/// A handle: copies share the numbers, the history and the gradient. Ops are free functions
/// (core/ops.h); the class holds what there is to look at. A default-constructed Tensor is
/// undefined: it stands for "none".
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const { return impl().shape; }
  const Shape& strides() const { return impl().strides; }
  DType dtype() const { return impl().dtype; }
  /// Number of axes.
  int dim() const { return impl().shape.rank(); }
  /// Extent of one axis; negative axes count from the back. Throws when out of range.
  std::int64_t size(std::int64_t axis) const;
  std::int64_t numel() const { return impl().shape.numel(); }
  /// True when the elements lie in row-major order without gaps.
  bool is_contiguous() const;

  /// The first element; the others are reached by strides(). Throws unless dtype() is T's.
  template <class T>
  const T* data() const {
    check(dtype() == dtype_of<T>, "data: the tensor is {}, not {}", dtype(), dtype_of<T>);
    return static_cast<const T*>(impl().storage->data()) + impl().offset;
  }
  /// The one element of a tensor with one element, of any dtype. Throws for other sizes.
  double item() const;
  /// One element, of any dtype. Throws when the index does not fit the shape.
  double at(std::initializer_list<std::int64_t> index) const;
  /// A copy of the elements in row-major order. Throws unless dtype() is T's.
  template <class T>
  std::vector<T> to_vector() const;

  /// True for a leaf that wants a gradient and for whatever was computed from one.
  bool requires_grad() const { return defined() && impl_->node != nullptr; }
  /// Makes this a leaf whose gradient backward() fills, or stops that. Throws for integers and
  /// booleans and for a tensor that has a history. Returns the tensor itself.
  Tensor& requires_grad_(bool wanted = true);
  /// True unless the tensor was computed from something that requires a gradient.
  bool is_leaf() const;
  /// The accumulated gradient of a leaf, shaped like it; undefined before backward() reached it.
  Tensor grad() const;
  /// Replaces the gradient of a leaf (undefined: none). Throws when shape or dtype differ.
  void set_grad(const Tensor& gradient);
  void zero_grad() { set_grad(Tensor()); }
  /// Fills grad() of every leaf this was computed from, adding to what is there. The graph
  /// lets go of its saved values on the way. Throws unless the tensor has one element, and when
  /// its graph was released before.
  void backward() const;
  /// backward() for a tensor of any shape, starting from `gradient` (shaped like the tensor).
  void backward(const Tensor& gradient) const;
  /// The same numbers in the same memory, without the history.
  Tensor detach() const;

  /// The graph node, null without a history; see core/node.h.
  const std::shared_ptr<Node>& node() const { return impl().node; }
  /// Throws Error when undefined.
  TensorImpl& impl() const {
    check(impl_ != nullptr, "tensor: an undefined tensor was used");
    return *impl_;
  }
  const std::shared_ptr<TensorImpl>& impl_ptr() const { return impl_; }

 private:
  std::shared_ptr<TensorImpl> impl_;
};

/// An uninitialised contiguous tensor.
Tensor empty(const Shape& shape, DType dtype = DType::f32);

/// Another view of the memory of `base`, without history. The caller keeps it inside the storage.
Tensor view_of(const Tensor& base, const Shape& shape, const Shape& strides, std::int64_t offset);

/// Overwrites the numbers of a leaf: the one mutator. Shapes and dtypes must be equal; the old
/// values must not be needed by a backward pass still to come (that pass will refuse to run).
void assign(const Tensor& leaf, const Tensor& value);

/// Announces that the numbers of a tensor are about to change: an open Trace copies the old ones,
/// and a backward pass that needs them will refuse to run. For assign() and in-place updates.
void begin_overwrite(const Tensor& tensor);

/// Write access, for ops that fill a fresh tensor. It does not count as a change of version.
template <class T>
T* mutable_data(const Tensor& tensor) {
  return const_cast<T*>(tensor.data<T>());
}

}  // namespace gradzoo
