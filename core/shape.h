// Shapes and strides: up to 8 numbers on the stack, and the rules that combine them.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "core/error.h"

namespace gradzoo {

/// A tensor has at most this many axes.
inline constexpr int kMaxRank = 8;

/// A short list of integers without heap memory: the extents of a tensor's axes, its strides
/// (in elements), or a list of axes. Throws when more than kMaxRank numbers are put in.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> values);
  explicit Shape(std::span<const std::int64_t> values);
  /// `rank` numbers, all `value`.
  static Shape filled(int rank, std::int64_t value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return (*this)[rank_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }

  void push_back(std::int64_t value);
  void insert(int position, std::int64_t value);
  void erase(int position);
  /// The numbers [from, to).
  Shape sub(int from, int to) const;

  /// Product of the extents, 1 for a scalar. Throws if an extent is negative or the product
  /// does not fit.
  std::int64_t numel() const;

  bool operator==(const Shape& other) const;

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

/// "[2, 3]", "[]" for a scalar.
std::string to_string(const Shape& shape);

/// Row-major strides of a contiguous tensor.
Shape contiguous_strides(const Shape& shape);

/// The index of the element at `position` in row-major order.
Shape unravel_index(std::int64_t position, const Shape& shape);

/// The NumPy broadcast of two shapes: aligned at the last axis, 1 stretches. Throws naming `op`.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

/// Maps a negative axis to 0..rank-1. Throws naming `op` when it is out of range; a scalar
/// (rank 0) has no axis.
int normalize_axis(const char* op, std::int64_t axis, int rank);

/// normalize_axis for each of `axes`, refusing repeats; an empty list stands for every axis.
Shape normalize_axes(const char* op, const Shape& axes, int rank);

}  // namespace gradzoo

template <>
struct fmt::formatter<gradzoo::Shape> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const gradzoo::Shape& shape, Context& context) const {
    const std::string text = gradzoo::to_string(shape);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
