// Attention masks.
#include "nn/mask.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/softmax.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

namespace {

// "[batch, queries, keys]": the last `count` names of the axes of scores with `rank` axes.
std::string axis_names(int count, int rank) {
  if (rank < 2 || rank > 4 || count > rank) return "";
  std::vector<std::string> names{"batch", "heads", "queries", "keys"};
  if (rank < 4) names.erase(names.begin() + 1);
  if (rank < 3) names.erase(names.begin() + 1);
  std::string text = "[";
  for (auto i = static_cast<std::size_t>(rank - count); i < names.size(); ++i) {
    text += names[i] + (i + 1 < names.size() ? ", " : "");
  }
  return text + "] ";
}

// Aligned at the last axis, each extent of the mask is that of the scores, or 1.
bool broadcasts(const Shape& mask, const Shape& scores) {
  if (mask.rank() > scores.rank()) return false;
  for (int i = 1; i <= mask.rank(); ++i) {
    const std::int64_t extent = mask[mask.rank() - i];
    if (extent != 1 && extent != scores[scores.rank() - i]) return false;
  }
  return true;
}

}  // namespace

Tensor padding_mask(const Tensor& lengths, std::int64_t max_len) {
  check(lengths.dim() == 1, "padding_mask: lengths must be [batch], got shape {}", lengths.shape());
  for (std::int64_t length : lengths.to_vector<std::int64_t>()) {
    check(length >= 0 && length <= max_len, "padding_mask: length {} is not in [0, {}]", length,
          max_len);
  }
  return lt(arange(static_cast<double>(max_len), DType::i64), unsqueeze(lengths, 1));
}

Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  return tril(full({queries, keys}, 1, DType::boolean), keys - queries);
}

Tensor causal_mask(std::int64_t n) { return causal_mask(n, n); }

Tensor window_mask(std::int64_t n, std::int64_t w) {
  check(w >= 0, "window_mask: w, the neighbours on each side, must not be negative, got {}", w);
  const std::int64_t reach = std::min(w, n);  // more changes nothing, and might overflow
  return triu(tril(full({n, n}, 1, DType::boolean), reach), -reach);
}

void check_mask(const char* op, const Tensor& mask, const Tensor& scores) {
  check(mask.dtype() == DType::boolean || mask.dtype() == scores.dtype(),
        "{}: the mask must be boolean (true = may attend) or {} as the scores (added to them), got "
        "{} of shape {}",
        op, scores.dtype(), mask.dtype(), mask.shape());
  if (broadcasts(mask.shape(), scores.shape())) return;
  check(false, "{}: the mask does not fit the scores, got mask {}{} and scores {}{}", op,
        axis_names(mask.dim(), scores.dim()), mask.shape(), axis_names(scores.dim(), scores.dim()),
        scores.shape());
}

Tensor combine_masks(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  const bool a_selects = a.dtype() == DType::boolean, b_selects = b.dtype() == DType::boolean;
  if (a_selects && b_selects) return logical_and(a, b);
  if (!a_selects && !b_selects) return a + b;
  const Tensor& added = a_selects ? b : a;
  return where(a_selects ? a : b, added, scalar(-INFINITY, added.dtype()));
}

Masked apply_mask(const char* op, const Tensor& scores, const Tensor& mask) {
  check_mask(op, mask, scores);
  if (mask.dtype() == DType::boolean) return {scores, mask};
  // Selecting, besides adding, keeps a NaN or an infinity out where the mask is -inf.
  return {scores + mask, ne(mask, -INFINITY)};
}

Tensor attention_weights(const Tensor& scores, const Tensor& mask) {
  if (!mask.defined()) return softmax(scores);
  const Masked masked = apply_mask("attention", scores, mask);
  return softmax(masked.scores, masked.may_attend);
}

}  // namespace gradzoo::nn
