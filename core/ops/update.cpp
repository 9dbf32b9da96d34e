// In-place updates of parameters by optimizers.
#include "core/ops/update.h"

#include <cmath>
#include <initializer_list>

#include "core/kernels/update.h"
#include "core/ops/dispatch.h"
#include "core/ops/view.h"
#include "core/scope.h"

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
    if (!kept.defined()) continue;
    check(kept.shape() == parameter.shape() && kept.dtype() == parameter.dtype() &&
              kept.is_contiguous(),
          "{}: the state is {} {}, the parameter {} {}; both must be contiguous", op, kept.dtype(),
          kept.shape(), parameter.dtype(), parameter.shape());
  }
}

// run(n, gradient, parameter), with pointers of the dtype, once everything has been checked.
template <class Run>
void update(const char* op, const Tensor& parameter, const Tensor& gradient,
            std::initializer_list<Tensor> state, const Run& run) {
  check_alike(op, parameter, gradient, state);
  const NoGrad no_grad;
  const Tensor g = contiguous(gradient);
  begin_overwrite(parameter);
  dispatch_floating(op, parameter.dtype(), [&]<class T>() {
    run(parameter.numel(), g.data<T>(), mutable_data<T>(parameter));
  });
}

void check_step(const char* op, std::int64_t step) {
  check(step >= 1, "{}: steps are counted from 1, got {}", op, step);
}

}  // namespace

void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                const SgdOptions& options, std::int64_t step, double lr_factor) {
  check_step("sgd_update", step);
  check(options.momentum == 0 || velocity.defined(), "sgd_update: momentum {} needs a velocity",
        options.momentum);
  update("sgd_update", parameter, gradient, {velocity},
         [&]<class T>(std::int64_t n, const T* g, T* p) {
           kernels::SgdRule<T> rule;
           rule.lr = static_cast<T>(options.lr * lr_factor);
           rule.momentum = static_cast<T>(options.momentum);
           rule.l2 = static_cast<T>(options.weight_decay);
           rule.fresh = static_cast<T>(step == 1 ? 1 : 1 - options.dampening);
           rule.nesterov = options.nesterov;
           kernels::sgd(n, g, options.momentum == 0 ? nullptr : mutable_data<T>(velocity), p, rule);
         });
}

void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& mean,
                 const Tensor& variance, const AdamOptions& options, std::int64_t step,
                 double lr_factor) {
  check_step("adam_update", step);
  check(mean.defined() && variance.defined(), "adam_update: mean and variance are needed");
  const double lr = options.lr * lr_factor, t = static_cast<double>(step);
  update("adam_update", parameter, gradient, {mean, variance},
         [&]<class T>(std::int64_t n, const T* g, T* p) {
           kernels::AdamRule<T> rule;
           rule.beta1 = static_cast<T>(options.beta1);
           rule.rest1 = static_cast<T>(1 - options.beta1);
           rule.beta2 = static_cast<T>(options.beta2);
           rule.rest2 = static_cast<T>(1 - options.beta2);
           rule.eps = static_cast<T>(options.eps);
           rule.step_size = static_cast<T>(lr / (1 - std::pow(options.beta1, t)));
           rule.variance_scale = static_cast<T>(1 / std::sqrt(1 - std::pow(options.beta2, t)));
           rule.l2 = static_cast<T>(options.decoupled ? 0 : options.weight_decay);
           rule.shrink = static_cast<T>(options.decoupled ? 1 - lr * options.weight_decay : 1);
           kernels::adam(n, g, mutable_data<T>(mean), mutable_data<T>(variance), p, rule);
         });
}

void rmsprop_update(const Tensor& parameter, const Tensor& gradient, const Tensor& square,
                    const Tensor& mean, const Tensor& velocity, const RmsPropOptions& options,
                    double lr_factor) {
  check(square.defined(), "rmsprop_update: square is needed");
  check(!options.centered || mean.defined(), "rmsprop_update: centered needs a mean");
  check(options.momentum == 0 || velocity.defined(), "rmsprop_update: momentum {} needs a velocity",
        options.momentum);
  update("rmsprop_update", parameter, gradient, {square, mean, velocity},
         [&]<class T>(std::int64_t n, const T* g, T* p) {
           kernels::RmsPropRule<T> rule;
           rule.lr = static_cast<T>(options.lr * lr_factor);
           rule.alpha = static_cast<T>(options.alpha);
           rule.rest = static_cast<T>(1 - options.alpha);
           rule.eps = static_cast<T>(options.eps);
           rule.momentum = static_cast<T>(options.momentum);
           rule.l2 = static_cast<T>(options.weight_decay);
           kernels::rmsprop(n, g, mutable_data<T>(square),
                            options.centered ? mutable_data<T>(mean) : nullptr,
                            options.momentum == 0 ? nullptr : mutable_data<T>(velocity), p, rule);
         });
}

void adagrad_update(const Tensor& parameter, const Tensor& gradient, const Tensor& sum,
                    const AdagradOptions& options, std::int64_t step, double lr_factor) {
  check_step("adagrad_update", step);
  check(sum.defined(), "adagrad_update: sum is needed");
  const double lr = options.lr * lr_factor / (1 + static_cast<double>(step - 1) * options.lr_decay);
  update("adagrad_update", parameter, gradient, {sum},
         [&]<class T>(std::int64_t n, const T* g, T* p) {
           kernels::AdagradRule<T> rule;
           rule.lr = static_cast<T>(lr);
           rule.eps = static_cast<T>(options.eps);
           rule.l2 = static_cast<T>(options.weight_decay);
           kernels::adagrad(n, g, mutable_data<T>(sum), p, rule);
         });
}

void average_update(const Tensor& average, const Tensor& value, double decay) {
  check(value.shape() == average.shape() && value.dtype() == average.dtype(),
        "average_update: the value is {} {}, the average {} {}", value.dtype(), value.shape(),
        average.dtype(), average.shape());
  update("average_update", average, value, {}, [&]<class T>(std::int64_t n, const T* v, T* a) {
    kernels::average(n, v, a, static_cast<T>(1 - decay));
  });
}

}  // namespace gradzoo
