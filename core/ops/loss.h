// Losses.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// What becomes of the losses of single elements.
enum class Reduction { none, mean, sum };

struct CrossEntropyOptions {
  /// Rows with this target count for nothing, in the sum and in the mean's divisor.
  std::int64_t ignore_index = -100;
  /// In [0, 1]: that much of the target is spread evenly over all K classes.
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};

/// -log softmax(logits)[target]: logits [..., K], targets i64 [...]. The result is a scalar, or
/// shaped like targets without reduction (0 where ignored). Every target ignored: 0 with gradient
/// 0. A target outside [0, K) is an error naming it.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options = {});

/// (x - target)^2, shapes equal. The mean of no elements is NaN.
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

/// -(t log sigmoid(x) + (1 - t) log(1 - sigmoid(x))), exact for large |x|; shapes equal.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        Reduction reduction = Reduction::mean);

}  // namespace gradzoo
