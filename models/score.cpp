// Log-probabilities of given tokens.
#include "models/score.h"

#include <algorithm>

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/index.h"
#include "core/ops/softmax.h"
#include "core/ops/view.h"

namespace gradzoo::models {

Tensor token_log_probs(const Tensor& logits, const Tensor& targets) {
  check(
      logits.dim() == 3 && targets.dim() == 2 && targets.dtype() == DType::i64 &&
          logits.size(0) == targets.size(0) && logits.size(1) == targets.size(1),
      "score: logits must be [batch, time, vocab] and targets i64 [batch, time], got {} and {} {}",
      logits.shape(), targets.dtype(), targets.shape());
  const Tensor chosen = gather(log_softmax(logits), 2, unsqueeze(targets, 2));
  return masked_fill(squeeze(chosen, 2), eq(targets, static_cast<double>(kPad)), 0);
}

Targets targets_of(const std::vector<Hypothesis>& answers) {
  std::int64_t longest = 0;
  for (const Hypothesis& answer : answers) longest = std::max(longest, answer.length());
  const Shape shape{static_cast<std::int64_t>(answers.size()), longest};
  std::vector<std::int64_t> in, out;
  for (const Hypothesis& answer : answers) {
    std::vector<std::int64_t> row = answer.tokens;
    if (answer.finished) row.push_back(kEos);
    row.resize(static_cast<std::size_t>(longest), kPad);
    out.insert(out.end(), row.begin(), row.end());
    if (longest == 0) continue;
    in.push_back(kBos);
    in.insert(in.end(), row.begin(), row.end() - 1);
  }
  return {from_vector(in, shape), from_vector(out, shape)};
}

}  // namespace gradzoo::models
