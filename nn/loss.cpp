// Losses of models, each a line or two of core ops.
#include "nn/loss.h"

#include "core/ops/binary.h"
#include "core/ops/loss.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo::nn {

Tensor sequence_cross_entropy(const Tensor& logits, const Tensor& targets,
                              const SequenceLossOptions& options) {
  check(logits.dim() == 3 && targets.dim() == 2 && targets.shape() == logits.shape().sub(0, 2),
        "sequence_cross_entropy: logits must be [batch, time, classes] and targets [batch, time], "
        "got {} and {}",
        logits.shape(), targets.shape());
  return cross_entropy(logits, targets,
                       {.ignore_index = options.pad, .label_smoothing = options.label_smoothing});
}

std::int64_t token_count(const Tensor& targets, std::int64_t pad) {
  check(targets.dtype() == DType::i64, "token_count: targets must be ids of i64, got {}",
        targets.dtype());
  return static_cast<std::int64_t>(
      sum(to(ne(targets, static_cast<double>(pad)), DType::i64)).item());
}

Tensor hinge_discriminator_loss(const Tensor& real, const Tensor& fake) {
  return mean(relu(1.0 - real)) + mean(relu(1.0 + fake));
}

Tensor hinge_generator_loss(const Tensor& fake) { return -mean(fake); }

}  // namespace gradzoo::nn
