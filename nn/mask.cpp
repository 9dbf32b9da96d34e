// Attention masks.
#include "nn/mask.h"

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

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

}  // namespace gradzoo::nn
