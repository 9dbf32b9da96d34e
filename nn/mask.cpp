// Attention masks.
#include "nn/mask.h"

#include <algorithm>
#include <cmath>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/softmax.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

namespace {

// What the axes of a mask or of scores are, by their number.
const char* axis_names(int rank) {
  switch (rank) {
    case 2:
      return "[queries, keys] ";
    case 3:
      return "[batch, queries, keys] ";
    case 4:
      return "[batch, heads, queries, keys] ";
    default:
      return "";
  }
}

// True when the i-th axis from the back holds for every row of what the mask stands for. A mask
// without a batch axis is as large as that: [1, keys] would be a batch of 1.
bool stretches(const Shape& mask, int i) { return mask.rank() > 2 && mask[mask.rank() - i] == 1; }

bool covers(const Shape& mask, const Shape& scores) {
  if (mask.rank() < 2 || mask.rank() > scores.rank()) return false;
  for (int i = 1; i <= mask.rank(); ++i) {
    const bool equal = mask[mask.rank() - i] == scores[scores.rank() - i];
    if (!equal && !stretches(mask, i)) return false;
  }
  return true;
}

bool cover_each_other(const Shape& a, const Shape& b) {
  if (a.rank() < 2 || b.rank() < 2) return false;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const bool equal = a[a.rank() - i] == b[b.rank() - i];
    if (!equal && !stretches(a, i) && !stretches(b, i)) return false;
  }
  return true;
}

// A mask [batch, queries, keys] beside something with heads holds for all of them.
Tensor with_heads(const Tensor& mask, int rank) {
  return mask.dim() == 3 && rank == 4 ? unsqueeze(mask, 1) : mask;
}

bool is_boolean(const Tensor& mask) { return mask.dtype() == DType::boolean; }

}  // namespace

Tensor padding_mask(const Tensor& lengths, std::int64_t max_len) {
  check(lengths.dim() == 1 && lengths.dtype() == DType::i64,
        "padding_mask: lengths must be i64 [batch], got {} {}", lengths.dtype(), lengths.shape());
  for (std::int64_t length : lengths.to_vector<std::int64_t>()) {
    check(length >= 0 && length <= max_len, "padding_mask: length {} is not in [0, {}]", length,
          max_len);
  }
  const Tensor places = arange(static_cast<double>(max_len), DType::i64);
  return lt(places, reshape(lengths, {lengths.size(0), 1, 1}));
}

Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  return tril(full({queries, keys}, 1, DType::boolean), keys - queries);
}

Tensor causal_mask(std::int64_t n) { return causal_mask(n, n); }

Tensor window_mask(std::int64_t queries, std::int64_t keys, std::int64_t w) {
  check(w >= 0, "window_mask: w, the neighbours on each side, must not be negative, got {}", w);
  const std::int64_t reach = std::min(w, queries + keys);  // more changes nothing, might overflow
  const std::int64_t first = keys - queries;               // the place of the first query
  return triu(tril(full({queries, keys}, 1, DType::boolean), first + reach), first - reach);
}

Tensor window_mask(std::int64_t n, std::int64_t w) { return window_mask(n, n, w); }

Tensor operator&(const Tensor& one, const Tensor& other) {
  if (!one.defined()) return other;
  if (!other.defined()) return one;
  const Tensor a = with_heads(one, other.dim()), b = with_heads(other, one.dim());
  check(cover_each_other(a.shape(), b.shape()),
        "masks: they do not fit each other, got {}{} and {}{}", axis_names(one.dim()), one.shape(),
        axis_names(other.dim()), other.shape());
  check((is_boolean(a) || is_floating(a.dtype())) && (is_boolean(b) || is_floating(b.dtype())),
        "masks: a mask must be boolean or float, got {} and {}", a.dtype(), b.dtype());
  if (is_boolean(a) && is_boolean(b)) return logical_and(a, b);
  if (!is_boolean(a) && !is_boolean(b)) {
    check(a.dtype() == b.dtype(), "masks: two float masks must have one dtype, got {} and {}",
          one.dtype(), other.dtype());
    return a + b;
  }
  const Tensor& added = is_boolean(a) ? b : a;
  return where(is_boolean(a) ? a : b, added, scalar(-INFINITY, added.dtype()));
}

Tensor fit_mask(const char* op, const Tensor& mask, const Shape& scores, DType dtype) {
  check(is_boolean(mask) || mask.dtype() == dtype,
        "{}: the mask must be boolean (true = may attend) or {} as the scores (added to them), got "
        "{} of shape {}",
        op, dtype, mask.dtype(), mask.shape());
  const bool no_heads = mask.dim() == 4 && scores.rank() == 3 && mask.size(1) == 1;
  const Tensor fitted = no_heads ? squeeze(mask, 1) : with_heads(mask, scores.rank());
  const bool same_axes = fitted.dim() == 2 || fitted.dim() == scores.rank();
  check(same_axes && covers(fitted.shape(), scores),
        "{}: the mask does not fit the scores, got mask {}{} and scores {}{}", op,
        axis_names(mask.dim()), mask.shape(), axis_names(scores.rank()), scores);
  return fitted;
}

Masked apply_mask(const char* op, const Tensor& scores, const Tensor& given) {
  const Tensor mask = fit_mask(op, given, scores.shape(), scores.dtype());
  if (is_boolean(mask)) return {scores, mask};
  // Selecting, besides adding, keeps a NaN or an infinity out where the mask is -inf.
  return {scores + mask, ne(mask, -INFINITY)};
}

Tensor attention_weights(const Tensor& scores, const Tensor& mask) {
  if (!mask.defined()) return softmax(scores);
  const Masked masked = apply_mask("attention", scores, mask);
  return softmax(masked.scores, masked.may_attend);
}

}  // namespace gradzoo::nn
