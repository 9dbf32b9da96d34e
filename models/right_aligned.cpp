// Sequences at the right of their room.
#include "models/right_aligned.h"

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/index.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "nn/mask.h"

namespace gradzoo::models {
namespace {

Tensor counting(std::int64_t n) { return arange(static_cast<double>(n), DType::i64); }

}  // namespace

RightAligned align_right(const Tensor& source, const Tensor& lengths) {
  check(source.dim() == 2 && lengths.shape() == Shape{source.size(0)},
        "source must be [batch, time] and lengths [batch], got {} and {}", source.shape(),
        lengths.shape());
  const std::int64_t time = source.size(1);
  if (all(nn::padding_mask(lengths, time)).item() != 0) return {source, {}};
  const Tensor padding = static_cast<double>(time) - lengths;
  return {gather(source, 1, own_places(padding, 0, time)), padding};
}

Tensor real_tokens(const Tensor& padding, std::int64_t keys) {
  if (!padding.defined()) return {};
  return unsqueeze(ge(counting(keys), unsqueeze(padding, 1)), 1);
}

Tensor own_places(const Tensor& padding, std::int64_t first, std::int64_t time) {
  const Tensor places = counting(time) + static_cast<double>(first) - unsqueeze(padding, 1);
  return maximum(places, zeros_like(places));
}

}  // namespace gradzoo::models
