// Keys and values of the tokens so far.
#include "nn/kv_cache.h"

#include "core/create.h"
#include "core/ops/index.h"
#include "core/ops/view.h"
#include "core/scope.h"

namespace gradzoo::nn {

namespace {

void check_no_grad() {
  check(!modes().grad_enabled,
        "KvCache: gradients are being recorded, and a cache is for decoding without them: open a "
        "NoGrad");
}

// True when `x` [batch, heads, n, d] can stand in `room` [batch, heads, capacity, d].
bool fits(const Tensor& x, const Tensor& room) {
  if (x.dim() != 4 || room.dim() != 4 || x.dtype() != room.dtype()) return false;
  return x.size(0) == room.size(0) && x.size(1) == room.size(1) && x.size(3) == room.size(3);
}

}  // namespace

KvCache::KvCache(const Shape& keys, const Shape& values, DType dtype)
    : keys_(zeros(keys, dtype)), values_(zeros(values, dtype)) {
  check(keys.rank() == 4 && values.rank() == 4 && keys.sub(0, 3) == values.sub(0, 3),
        "KvCache: keys must be [batch, heads, capacity, d] and values [batch, heads, capacity, e], "
        "got {} and {}",
        keys, values);
}

KvCache::KvCache(const Tensor& keys, const Tensor& values)
    : KvCache(keys.shape(), values.shape(), keys.dtype()) {
  append(keys, values);
}

std::int64_t KvCache::capacity() const { return keys_.defined() ? keys_.size(2) : 0; }
std::int64_t KvCache::batch() const { return keys_.defined() ? keys_.size(0) : 0; }
Tensor KvCache::keys() const { return slice(keys_, 2, 0, length_); }
Tensor KvCache::values() const { return slice(values_, 2, 0, length_); }

void KvCache::append(const Tensor& keys, const Tensor& values) {
  check_no_grad();
  check(keys_.defined(), "KvCache: it has no room: it was not made by a layer's make_cache");
  check(fits(keys, keys_) && fits(values, values_) && keys.size(2) == values.size(2),
        "KvCache: made for keys {} and values {}, {} [batch, heads, capacity, width], got {} {} "
        "and {} {}",
        keys_.shape(), values_.shape(), keys_.dtype(), keys.dtype(), keys.shape(), values.dtype(),
        values.shape());
  const std::int64_t end = length_ + keys.size(2);
  check(end <= capacity(), "KvCache: there is room for {} tokens, {} are there and {} were to come",
        capacity(), length_, keys.size(2));
  assign(slice(keys_, 2, length_, end), keys);
  assign(slice(values_, 2, length_, end), values);
  length_ = end;
}

void KvCache::select_rows(const Tensor& index) {
  check_no_grad();
  const auto selected = [&](const Tensor& room) {
    Shape shape = room.shape();
    shape[0] = index.numel();
    const Tensor rows = index_select(slice(room, 2, 0, length_), 0, index);
    const Tensor made = zeros(shape, room.dtype());
    assign(slice(made, 2, 0, length_), rows);
    return made;
  };
  check(keys_.defined() && index.dim() == 1, "KvCache: index must be [new batch], got {}",
        index.shape());
  const Tensor keys = selected(keys_), values = selected(values_);
  keys_ = keys;
  values_ = values;
}

}  // namespace gradzoo::nn
