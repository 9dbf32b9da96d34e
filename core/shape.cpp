// Shape arithmetic: element counts, strides, broadcasting, axes.
#include "core/shape.h"

#include <algorithm>

namespace gradzoo {

Shape::Shape(std::initializer_list<std::int64_t> values)
    : Shape(std::span<const std::int64_t>(values.begin(), values.size())) {}

Shape::Shape(std::span<const std::int64_t> values) {
  check(values.size() <= kMaxRank, "shape: at most {} axes are allowed, got {}", kMaxRank,
        values.size());
  std::copy(values.begin(), values.end(), values_.begin());
  rank_ = static_cast<int>(values.size());
}

Shape Shape::filled(int rank, std::int64_t value) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(value);
  return shape;
}

void Shape::push_back(std::int64_t value) { insert(rank_, value); }

void Shape::insert(int position, std::int64_t value) {
  check(rank_ < kMaxRank, "shape: at most {} axes are allowed, {} cannot get one more", kMaxRank,
        *this);
  std::copy_backward(values_.begin() + position, values_.begin() + rank_,
                     values_.begin() + rank_ + 1);
  values_[static_cast<std::size_t>(position)] = value;
  ++rank_;
}

void Shape::erase(int position) {
  std::copy(values_.begin() + position + 1, values_.begin() + rank_, values_.begin() + position);
  --rank_;
}

Shape Shape::sub(int from, int to) const {
  return Shape(std::span(begin() + from, static_cast<std::size_t>(to - from)));
}

std::int64_t Shape::numel() const {
  // 2^59 elements of 8 bytes is the most whose byte count fits a signed 64-bit integer.
  constexpr std::int64_t limit = std::int64_t{1} << 59;
  std::int64_t count = 1;
  bool too_many = false;
  for (std::int64_t extent : *this) {
    check(extent >= 0, "shape: extents must not be negative, got {}", *this);
    too_many = too_many || __builtin_mul_overflow(count, extent, &count) || count > limit;
  }
  if (!too_many) return count;
  check(std::find(begin(), end(), 0) != end(), "shape: {} has too many elements", *this);
  return 0;
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

Shape unravel_index(std::int64_t position, const Shape& shape) {
  Shape index = shape;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    check(x == y || x == 1 || y == 1, "{}: shapes {} and {} cannot be broadcast together", op, a,
          b);
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

int normalize_axis(const char* op, std::int64_t axis, int rank) {
  check(axis >= -rank && axis < rank, "{}: axis {} is out of range for a tensor with {} axes", op,
        axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape normalize_axes(const char* op, const Shape& axes, int rank) {
  Shape out;
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  for (std::int64_t axis : axes) {
    const int normal = normalize_axis(op, axis, rank);
    check(std::find(out.begin(), out.end(), normal) == out.end(), "{}: axis {} is given twice", op,
          axis);
    out.push_back(normal);
  }
  return out;
}

}  // namespace gradzoo
