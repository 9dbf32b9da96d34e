// Losses. cross_entropy is one op with kernels of its own; the others are short formulas in ops.
#include "core/ops/loss.h"

#include "core/create.h"
#include "core/kernels/loss.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/reduce.h"
#include "core/ops/softmax.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

void check_same(const char* op, const Tensor& x, const Tensor& target) {
  check(x.dtype() == target.dtype() && is_floating(x.dtype()),
        "{}: x and target must both be f32 or f64, got {} and {}", op, x.dtype(), target.dtype());
  check(x.shape() == target.shape(), "{}: x and target must have equal shapes, got {} and {}", op,
        x.shape(), target.shape());
}

void check_shapes(const Tensor& logits, const Tensor& targets) {
  check(targets.dtype() == DType::i64, "cross_entropy: targets must be class ids of i64, got {}",
        targets.dtype());
  check(logits.dim() >= 1, "cross_entropy: logits must have an axis of classes, got shape {}",
        logits.shape());
  check(targets.shape() == logits.shape().sub(0, logits.dim() - 1),
        "cross_entropy: targets must have the shape of logits without the last axis, got {} for {}",
        targets.shape(), logits.shape());
}

// How many targets count. Throws for one that is no class.
std::int64_t count_kept(const Tensor& targets, std::int64_t classes, std::int64_t ignored) {
  const std::int64_t* ids = targets.data<std::int64_t>();
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < targets.numel(); ++i) {
    if (ids[i] == ignored) continue;
    check(ids[i] >= 0 && ids[i] < classes,
          "cross_entropy: target {} (number {}) is outside [0, {}) and not ignore_index {}", ids[i],
          i, classes, ignored);
    ++kept;
  }
  return kept;
}

// The factor between the gradient of the result and that of a row's loss.
double row_scale(Reduction reduction, std::int64_t kept) {
  return reduction == Reduction::mean && kept > 0 ? 1.0 / static_cast<double>(kept) : 1.0;
}

// One loss a row, or their sum times `scale`.
template <class T>
Tensor reduced_rows(const Tensor& losses, Reduction reduction, double scale) {
  if (reduction == Reduction::none) return losses;
  double total = 0;
  for (std::int64_t i = 0; i < losses.numel(); ++i) {
    total += static_cast<double>(losses.data<T>()[i]);
  }
  return scalar(total * scale, losses.dtype());
}

// dx = (softmax(x) - target distribution) * the gradient of the row's loss.
Tensor fused_gradient(const BackwardContext& c, const CrossEntropyOptions& options, double scale) {
  const Tensor x = contiguous(c.saved(0));
  const Tensor targets = c.saved(1);
  const Tensor g = contiguous(c.grad);
  const Tensor dx = empty(x.shape(), x.dtype());
  dispatch_floating("cross_entropy", x.dtype(), [&]<class T>() {
    kernels::cross_entropy_backward(
        x.data<T>(), {targets.data<std::int64_t>(), options.ignore_index, options.label_smoothing},
        c.saved(2).data<T>(), g.data<T>(), options.reduction == Reduction::none ? 1 : 0, scale,
        targets.numel(), x.size(-1), mutable_data<T>(dx));
  });
  return dx;
}

// The same in ops, with a history.
Tensor composed_gradient(const BackwardContext& c, const CrossEntropyOptions& options,
                         double scale) {
  const Tensor x = c.saved(0);
  const Tensor targets = c.saved(1);
  const std::int64_t classes = x.size(-1);
  const double smoothing = options.label_smoothing;
  const Tensor kept = ne(targets, static_cast<double>(options.ignore_index));
  const Tensor ids = where(kept, targets, zeros_like(targets));
  const Tensor target =
      one_hot(ids, classes, x.dtype()) * (1 - smoothing) + smoothing / static_cast<double>(classes);
  const Tensor rows = unsqueeze(kept, -1);
  const Tensor logits = where(rows, x, zeros_like(x));
  const Tensor g = options.reduction == Reduction::none ? unsqueeze(c.grad, -1) : c.grad;
  return where(rows, (softmax(logits) - target) * (g * scale), zeros_like(x));
}

Op cross_entropy_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::none:
      return {"cross_entropy", "x, t",
              "y = -sum(q * log(p)) in each row; p = softmax(x), q = one_hot(t) or smoothed",
              "dx = (p - q) * dy, 0 in ignored rows"};
    case Reduction::sum:
      return {"cross_entropy", "x, t",
              "y = -sum(q * log(p)); p = softmax(x), q = one_hot(t) or smoothed",
              "dx = (p - q) * dy, 0 in ignored rows"};
    case Reduction::mean:
      break;
  }
  return {"cross_entropy", "x, t",
          "y = -sum(q * log(p)) / rows; p = softmax(x), q = one_hot(t) or smoothed",
          "dx = (p - q) * dy / rows, 0 in ignored rows"};
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  check_shapes(logits, targets);
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1,
        "cross_entropy: label_smoothing must be in [0, 1], got {}", options.label_smoothing);
  const Tensor x = contiguous(logits.detach());
  const Tensor ids = contiguous(targets);
  const std::int64_t kept = count_kept(ids, x.size(-1), options.ignore_index);
  const double scale = row_scale(options.reduction, kept);
  Shape stats_shape = targets.shape();
  stats_shape.push_back(2);
  const Tensor stats = empty(stats_shape, x.dtype());
  const Tensor y = dispatch_floating("cross_entropy", x.dtype(), [&]<class T>() {
    const Tensor losses = empty(targets.shape(), x.dtype());
    kernels::cross_entropy(
        x.data<T>(), {ids.data<std::int64_t>(), options.ignore_index, options.label_smoothing},
        ids.numel(), x.size(-1), mutable_data<T>(losses), mutable_data<T>(stats));
    return reduced_rows<T>(losses, options.reduction, scale);
  });
  return record(y, cross_entropy_op(options.reduction), {logits, targets}, {logits, ids, stats},
                [options, scale](const BackwardContext& c) -> Grads {
                  if (!modes().grad_enabled) return {fused_gradient(c, options, scale), Tensor()};
                  return {composed_gradient(c, options, scale), Tensor()};
                });
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  check_same("mse_loss", x, target);
  return reduced(square(x - target), reduction);
}

// Each part is exact by itself: with x - x t + log(1 + exp(-x)), large parts would cancel.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        Reduction reduction) {
  check_same("binary_cross_entropy_with_logits", x, target);
  return reduced(target * softplus(-x) + (1 - target) * softplus(x), reduction);
}

}  // namespace gradzoo
