// Constants, ranges, nested values.
#include "core/create.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/memory.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"

namespace gradzoo {
namespace {

// The value as a T, if it is one exactly (floats: rounded).
template <class T>
T exactly(const char* op, double value) {
  if constexpr (!std::is_floating_point_v<T>) {
    const bool fits = std::is_same_v<T, bool>
                          ? value == 0 || value == 1
                          : value == std::trunc(value) && value >= -0x1p63 && value < 0x1p63;
    check(fits, "{}: {} cannot be held by a {} tensor", op, value, dtype_of<T>);
  }
  return static_cast<T>(value);
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

Tensor arange(double start, double end, double step, DType dtype) {
  check(std::isfinite(start) && std::isfinite(end) && std::isfinite(step) && step != 0,
        "arange: start, end and step must be finite and the step not 0, got {}, {} and {}", start,
        end, step);
  // Counted once, not by adding steps up: rounding errors must not decide about the last element.
  const double count = std::max(0.0, std::ceil((end - start) / step));
  check(count < 0x1p59, "arange: from {} to {} by {} has too many elements", start, end, step);
  const std::int64_t n = static_cast<std::int64_t>(count);
  const Tensor y = empty({n}, dtype);
  dispatch_all(dtype, [&]<class T>() {
    T* out = mutable_data<T>(y);
    for (std::int64_t i = 0; i < n; ++i) {
      out[i] = exactly<T>("arange", start + static_cast<double>(i) * step);
    }
  });
  return y;
}

Tensor arange(double end, DType dtype) { return arange(0, end, 1, dtype); }

Tensor eye(std::int64_t n, std::int64_t m, DType dtype) {
  const std::int64_t columns = m == -1 ? n : m;
  const Tensor y = zeros({n, columns}, dtype);
  dispatch_all(dtype, [&]<class T>() {
    T* out = mutable_data<T>(y);
    for (std::int64_t i = 0; i < std::min(n, columns); ++i) out[i * columns + i] = T(1);
  });
  return y;
}

Tensor one_hot(const Tensor& ids, std::int64_t num_classes, DType dtype) {
  const Tensor packed = row_major(ids);
  const std::int64_t* id = packed.data<std::int64_t>();
  Shape shape = ids.shape();
  shape.push_back(num_classes);
  const Tensor y = zeros(shape, dtype);
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    check(id[i] >= 0 && id[i] < num_classes, "one_hot: id {} is outside [0, {})", id[i],
          num_classes);
  }
  dispatch_all(dtype, [&]<class T>() {
    T* out = mutable_data<T>(y);
    for (std::int64_t i = 0; i < ids.numel(); ++i) out[i * num_classes + id[i]] = T(1);
  });
  return y;
}

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
