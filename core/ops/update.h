// In-place updates of parameters by optimizers: each is one pass over memory. Like assign(), they
// count as overwriting the parameter, so that a backward pass that still needs its old value
// refuses to run.
//
// Parameter and state must be contiguous and alike; state that an option does not need may be
// undefined. `step` counts from 1, and `lr_factor` (of a schedule) is multiplied with lr.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace gradzoo {

/// One step of stochastic gradient descent. With momentum, `velocity` (zeros at first) becomes
/// momentum * velocity + (1 - dampening) * gradient, and is what the parameter moves by.
struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;     ///< not applied in the first step, as in PyTorch
  double weight_decay = 0;  ///< L2: weight_decay * parameter is added to the gradient
  bool nesterov = false;    ///< moves by gradient + momentum * velocity
};
void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                const SgdOptions& options, std::int64_t step = 1, double lr_factor = 1);

/// One step of Adam (Kingma and Ba 2015) or AdamW (Loshchilov and Hutter 2019), with running means
/// of the gradient and of its square; eps is added after the bias correction.
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  /// false: weight_decay is L2, added to the gradient (Adam). true: the parameter shrinks by
  /// lr * weight_decay, apart from the gradient (AdamW). The two take different paths.
  bool decoupled = false;
};
void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& mean,
                 const Tensor& variance, const AdamOptions& options, std::int64_t step = 1,
                 double lr_factor = 1);

/// One step of RMSprop (Tieleman and Hinton 2012): the gradient is divided by sqrt(`square`) + eps,
/// `square` being the running mean of its square; centered (Graves 2013): the running variance,
/// square - mean^2. With momentum, `velocity` sums up those quotients.
struct RmsPropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< of the running means
  double eps = 1e-8;
  double momentum = 0;
  double weight_decay = 0;  ///< L2: weight_decay * parameter is added to the gradient
  bool centered = false;
};
void rmsprop_update(const Tensor& parameter, const Tensor& gradient, const Tensor& square,
                    const Tensor& mean, const Tensor& velocity, const RmsPropOptions& options,
                    double lr_factor = 1);

/// One step of Adagrad (Duchi et al. 2011): the gradient is divided by sqrt(`sum`) + eps, `sum`
/// adding up its squares; lr becomes lr / (1 + (step - 1) * lr_decay).
struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double initial_accumulator = 0;  ///< what `sum` starts from
  double eps = 1e-10;
  double weight_decay = 0;  ///< L2: weight_decay * parameter is added to the gradient
};
void adagrad_update(const Tensor& parameter, const Tensor& gradient, const Tensor& sum,
                    const AdagradOptions& options, std::int64_t step = 1, double lr_factor = 1);

/// A running mean: average becomes decay * average + (1 - decay) * value.
void average_update(const Tensor& average, const Tensor& value, double decay);

}  // namespace gradzoo
