// What an attention layer remembers while a sequence is written token by token: keys and values.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo::nn {

/// Keys and values of the tokens so far, with room for more, so that a token costs one product with
/// what there is instead of all of it again. For decoding, not for training: tokens are written
/// over the room, so every change is an Error unless a NoGrad is open. Memory for the room is taken
/// as tokens come, twice as much each time, so a generous capacity costs nothing.
///
/// It can be moved but not copied: two of them would write into the same room. A beam search that
/// keeps, drops and doubles hypotheses says so with select_rows.
class KvCache {
 public:
  /// Without room.
  KvCache() : KvCache(Shape{0, 0, 0, 0}, Shape{0, 0, 0, 0}, DType::f32) {}
  /// Room for `capacity` tokens: keys [batch, heads, capacity, d], values [batch, heads, capacity,
  /// e]. Throws when an extent is negative.
  KvCache(const Shape& keys, const Shape& values, DType dtype);
  /// Full from the start: the keys and values of a memory that does not change.
  KvCache(const Tensor& keys, const Tensor& values);

  KvCache(KvCache&&) = default;
  KvCache& operator=(KvCache&&) = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  std::int64_t length() const { return length_; }      ///< tokens so far
  std::int64_t capacity() const { return capacity_; }  ///< tokens there is room for
  std::int64_t batch() const;
  Tensor keys() const;    ///< [batch, heads, length, d], a view that a later change makes invalid
  Tensor values() const;  ///< [batch, heads, length, e], likewise

  /// Adds n tokens: keys [batch, heads, n, d], values [batch, heads, n, e]. Throws when they do not
  /// fit, or do not fit in any more.
  void append(const Tensor& keys, const Tensor& values);

  /// Row i becomes what row index[i] was; index: i64 [new batch]. Rows may be reordered, doubled
  /// and dropped.
  void select_rows(const Tensor& index);

 private:
  // New memory for `room` tokens, with these rows of what there is, or all of them.
  void move_rows(std::int64_t room, const Tensor& index);

  Tensor keys_, values_;  // [batch, heads, tokens there is memory for, ...]
  std::int64_t length_ = 0, capacity_ = 0;
};

}  // namespace gradzoo::nn
