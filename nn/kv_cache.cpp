// Keys and values of the tokens so far.
#include "nn/kv_cache.h"

#include <algorithm>

#include "core/create.h"
#include "core/ops/index.h"
#include "core/ops/view.h"
#include "core/scope.h"

namespace gradzoo::nn {

namespace {

constexpr std::int64_t kFirstRoom = 16;  // tokens

void check_no_grad() {
  check(!modes().grad_enabled,
        "KvCache: gradients are being recorded, and a cache is for decoding without them: open a "
        "NoGrad");
}

// x [batch, heads, n, d] at the beginning of [batch, heads, capacity, d].
Tensor with_room(const Tensor& x, std::int64_t capacity) {
  Shape shape = x.shape();
  shape[2] = capacity;
  const Tensor room = empty(shape, x.dtype());
  assign(slice(room, 2, 0, x.size(2)), x);
  return room;
}

// True when `x` [batch, heads, n, d] can stand in `room` [batch, heads, capacity, d].
bool fits(const Tensor& x, const Tensor& room) {
  if (x.dim() != 4 || room.dim() != 4 || x.dtype() != room.dtype()) return false;
  return x.size(0) == room.size(0) && x.size(1) == room.size(1) && x.size(3) == room.size(3);
}

}  // namespace

KvCache::KvCache(const Shape& keys, const Shape& values, DType dtype) {
  check(
      keys.rank() == 4 && values.rank() == 4 && keys.sub(0, 3) == values.sub(0, 3) && keys[2] >= 0,
      "KvCache: keys must be [batch, heads, capacity, d] and values [batch, heads, capacity, e], "
      "got {} and {}",
      keys, values);
  capacity_ = keys[2];
  keys_ = empty({keys[0], keys[1], 0, keys[3]}, dtype);
  values_ = empty({values[0], values[1], 0, values[3]}, dtype);
}

KvCache::KvCache(const Tensor& keys, const Tensor& values)
    : KvCache(keys.shape(), values.shape(), keys.dtype()) {
  append(keys, values);
}

std::int64_t KvCache::batch() const { return keys_.size(0); }
Tensor KvCache::keys() const { return slice(keys_, 2, 0, length_); }
Tensor KvCache::values() const { return slice(values_, 2, 0, length_); }

void KvCache::append(const Tensor& keys, const Tensor& values) {
  check_no_grad();
  check(
      fits(keys, keys_) && fits(values, values_) && keys.size(2) == values.size(2),
      "KvCache: made for batch {} and heads {}, widths {} and {}, {}; keys [batch, heads, tokens, "
      "width] and values must fit, got {} {} and {} {}",
      keys_.size(0), keys_.size(1), keys_.size(3), values_.size(3), keys_.dtype(), keys.dtype(),
      keys.shape(), values.dtype(), values.shape());
  const std::int64_t end = length_ + keys.size(2), room = keys_.size(2);
  check(end <= capacity_, "KvCache: there is room for {} tokens, {} are there and {} were to come",
        capacity_, length_, keys.size(2));
  if (end > room) move_rows(std::min(capacity_, std::max({end, 2 * room, kFirstRoom})), {});
  assign(slice(keys_, 2, length_, end), keys);
  assign(slice(values_, 2, length_, end), values);
  length_ = end;
}

void KvCache::select_rows(const Tensor& index) {
  check_no_grad();
  check(index.dim() == 1, "KvCache: index must be [new batch], got {}", index.shape());
  move_rows(keys_.size(2), index);
}

void KvCache::move_rows(std::int64_t room, const Tensor& index) {
  const auto moved = [&](const Tensor& all) {
    return with_room(index.defined() ? index_select(all, 0, index) : all, room);
  };
  const Tensor k = moved(keys()), v = moved(values());
  keys_ = k;
  values_ = v;
}

}  // namespace gradzoo::nn
