// In-place updates of parameters by optimizers.
#include "core/ops/update.h"

#include <cmath>
#include <initializer_list>

#include "core/kernels/update.h"
#include "core/ops/dispatch.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

// The kernels take plain arrays of one length: parameter and state must be contiguous, and all
// alike. The gradient may have any strides.
void check_alike(const char* op, const Tensor& parameter, const Tensor& gradient,
                 std::initializer_list<Tensor> state) {
  check(parameter.is_leaf(), "{}: the parameter must be a leaf", op);
  check(gradient.shape() == parameter.shape() && gradient.dtype() == parameter.dtype(),
        "{}: the gradient is {} {}, the parameter {} {}", op, gradient.dtype(), gradient.shape(),
        parameter.dtype(), parameter.shape());
  check(parameter.is_contiguous(), "{}: the parameter must be contiguous", op);
  for (const Tensor& kept : state) {
    check(kept.shape() == parameter.shape() && kept.dtype() == parameter.dtype() &&
              kept.is_contiguous(),
          "{}: the state is {} {}, the parameter {} {}; both must be contiguous", op, kept.dtype(),
          kept.shape(), parameter.dtype(), parameter.shape());
  }
}

}  // namespace

void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                const SgdStep& step) {
  check(step.momentum == 0 || velocity.defined(), "sgd_update: momentum {} needs a velocity",
        step.momentum);
  check_alike("sgd_update", parameter, gradient,
              step.momentum == 0 ? std::initializer_list<Tensor>{}
                                 : std::initializer_list<Tensor>{velocity});
  const Tensor g = contiguous(gradient.detach());
  begin_overwrite(parameter);
  dispatch_floating("sgd_update", parameter.dtype(), [&]<class T>() {
    T* v = step.momentum == 0 ? nullptr : mutable_data<T>(velocity);
    kernels::sgd(parameter.numel(), g.data<T>(), v, mutable_data<T>(parameter),
                 kernels::SgdRule{step.lr, step.momentum, step.weight_decay, step.nesterov});
  });
}

void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& mean,
                 const Tensor& variance, const AdamStep& step) {
  check(step.step >= 1, "adam_update: steps are counted from 1, got {}", step.step);
  check_alike("adam_update", parameter, gradient, {mean, variance});
  const double t = static_cast<double>(step.step);
  kernels::AdamRule rule;
  rule.beta1 = step.beta1;
  rule.beta2 = step.beta2;
  rule.eps = step.eps;
  rule.step_size = step.lr / (1 - std::pow(step.beta1, t));
  rule.variance_scale = 1 / std::sqrt(1 - std::pow(step.beta2, t));
  rule.l2 = step.decoupled ? 0 : step.weight_decay;
  rule.shrink = step.decoupled ? 1 - step.lr * step.weight_decay : 1;
  const Tensor g = contiguous(gradient.detach());
  begin_overwrite(parameter);
  dispatch_floating("adam_update", parameter.dtype(), [&]<class T>() {
    kernels::adam(parameter.numel(), g.data<T>(), mutable_data<T>(mean), mutable_data<T>(variance),
                  mutable_data<T>(parameter), rule);
  });
}

}  // namespace gradzoo
