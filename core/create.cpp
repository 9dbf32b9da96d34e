// Constants, ranges, nested values.
#include "core/create.h"

#include "core/kernels/memory.h"
#include "core/ops/dispatch.h"

namespace gradzoo {
namespace {

// The value as a T, if it is one exactly (floats: rounded).
template <class T>
T exactly(const char* op, double value) {
  const T converted = static_cast<T>(value);
  if constexpr (!std::is_floating_point_v<T>) {
    check(static_cast<double>(converted) == value, "{}: {} cannot be held by a {} tensor", op,
          value, dtype_of<T>);
  }
  return converted;
}

}  // namespace

Tensor full(const Shape& shape, double value, DType dtype) {
  const Tensor y = empty(shape, dtype);
  dispatch_all(dtype, [&]<class T>() {
    kernels::fill(mutable_data<T>(y), y.numel(), exactly<T>("full", value));
  });
  return y;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, x.dtype()); }
Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }
Tensor ones_like(const Tensor& x) { return full_like(x, 1); }
Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

Shape Nested::shape() const {
  Shape shape;
  if (!is_list_) return shape;
  if (!items_.empty()) shape = items_[0].shape();
  for (const Nested& item : items_) {
    check(item.shape() == shape, "tensor: ragged values, {} beside {}", item.shape(), shape);
  }
  shape.insert(0, static_cast<std::int64_t>(items_.size()));
  return shape;
}

void Nested::flatten_into(std::vector<double>& values) const {
  if (!is_list_) values.push_back(value_);
  for (const Nested& item : items_) item.flatten_into(values);
}

Tensor tensor(const Nested& values, DType dtype) {
  std::vector<double> flat;
  values.flatten_into(flat);
  const Tensor y = empty(values.shape(), dtype);
  dispatch_all(dtype, [&]<class T>() {
    T* out = mutable_data<T>(y);
    for (double value : flat) *out++ = exactly<T>("tensor", value);
  });
  return y;
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  check(shape.numel() == static_cast<std::int64_t>(values.size()),
        "from_vector: {} values do not fill the shape {}", values.size(), shape);
  const Tensor y = empty(shape, dtype_of<T>);
  std::copy(values.begin(), values.end(), mutable_data<T>(y));
  return y;
}
template Tensor from_vector(const std::vector<float>&, const Shape&);
template Tensor from_vector(const std::vector<double>&, const Shape&);
template Tensor from_vector(const std::vector<std::int64_t>&, const Shape&);
template Tensor from_vector(const std::vector<bool>&, const Shape&);

}  // namespace gradzoo
