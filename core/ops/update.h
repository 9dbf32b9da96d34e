// In-place updates of parameters by optimizers: each is one pass over memory. Like assign(), they
// count as overwriting the parameter, so that a backward pass that still needs its old value
// refuses to run.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// One step of stochastic gradient descent. With momentum, `velocity` (shaped like the parameter,
/// zeros at first) becomes momentum * velocity + gradient.
struct SgdStep {
  double lr = 0;
  double momentum = 0;
  double weight_decay = 0;  ///< added to the gradient: weight_decay * parameter
  bool nesterov = false;
};
void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                const SgdStep& step);

/// One step of Adam (Kingma and Ba 2015); eps is added after the bias correction.
struct AdamStep {
  std::int64_t step = 1;  ///< counted from 1, for the bias correction
  double lr = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  /// AdamW (Loshchilov and Hutter 2019): the parameter shrinks by lr * weight_decay, instead of
  /// weight_decay * parameter being added to the gradient.
  bool decoupled = false;
};
void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& mean,
                 const Tensor& variance, const AdamStep& step);

}  // namespace gradzoo
