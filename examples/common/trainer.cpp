// One batch at a time.
#include "examples/common/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/anomaly.h"
#include "core/create.h"
#include "core/scope.h"
#include "core/serialize.h"
#include "nn/config.h"
#include "nn/loss.h"
#include "optim/clip.h"

namespace gradzoo::examples {
namespace {

// The parameters as optimizers take them: matrices with weight decay, the others without.
template <class Optimizer>
Optimizer with_groups(const nn::NamedTensors& parameters, typename Optimizer::Options options) {
  nn::NamedTensors matrices, others;
  for (const auto& [name, tensor] : parameters) {
    (tensor.dim() >= 2 ? matrices : others).emplace_back(name, tensor);
  }
  typename Optimizer::Options without = options;
  without.weight_decay = 0;
  return Optimizer(std::vector<typename Optimizer::Group>{{matrices, options}, {others, without}});
}

Tensor as_tensor(const Ids& ids) { return from_vector(ids, {std::ssize(ids)}); }

}  // namespace

Trainer::AnyOptimizer Trainer::make_optimizer(const nn::NamedTensors& parameters,
                                              const TrainerOptions& o) {
  switch (o.optimizer) {
    case OptimizerKind::sgd:
      return with_groups<optim::Sgd>(
          parameters, {.lr = o.lr, .momentum = o.momentum, .weight_decay = o.weight_decay});
    case OptimizerKind::rmsprop:
      return with_groups<optim::RmsProp>(parameters, {.lr = o.lr, .weight_decay = o.weight_decay});
    case OptimizerKind::adagrad:
      return with_groups<optim::Adagrad>(parameters, {.lr = o.lr, .weight_decay = o.weight_decay});
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      break;
  }
  return with_groups<optim::Adam>(parameters, {.lr = o.lr,
                                               .beta2 = o.beta2,
                                               .eps = 1e-9,
                                               .weight_decay = o.weight_decay,
                                               .decoupled = o.optimizer == OptimizerKind::adamw});
}

Trainer::Trainer(const ZooModel& model, BatchStream& data, const TrainerOptions& options)
    : model_(model),
      data_(data),
      options_(options),
      parameters_(named_parameters(model)),
      optimizer_(make_optimizer(parameters_, options)),
      plateau_({.factor = 0.5, .patience = 3, .min_factor = options.lr_floor}),
      rng_(options.seed) {}

double Trainer::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

double Trainer::progress() const {
  if (options_.seconds > 0) return std::min(seconds() / options_.seconds, 1.0);
  const auto steps = static_cast<double>(std::max<std::int64_t>(options_.steps, 1));
  return std::min(static_cast<double>(state_.step) / steps, 1.0);
}

bool Trainer::done() const {
  return options_.seconds > 0 ? seconds() >= options_.seconds : state_.step >= options_.steps;
}

double Trainer::lr_factor() const {
  const std::int64_t step = state_.step, warmup = options_.warmup_steps;
  switch (options_.schedule) {
    case ScheduleKind::constant:
      return optim::linear_warmup(step, warmup);
    case ScheduleKind::noam: {
      const std::int64_t warm = std::max<std::int64_t>(warmup, 1);
      return optim::noam(step, width(model_), warm);
    }
    case ScheduleKind::inverse_sqrt:
      return optim::inverse_sqrt(step, warmup);
    case ScheduleKind::step:
      return optim::linear_warmup(step, warmup) *
             optim::step_decay(step, std::max<std::int64_t>(options_.steps / 3, 1), 0.1);
    case ScheduleKind::plateau:
      return optim::linear_warmup(step, warmup) * plateau_.factor();
    case ScheduleKind::cosine:
      break;
  }
  if (options_.seconds <= 0) {
    return optim::cosine(step, options_.steps + 1, std::min(warmup, options_.steps),
                         options_.lr_floor);
  }
  // A budget of time has no number of steps: the clock says how far along the curve we are.
  constexpr std::int64_t fine = 1'000'000;
  const auto at = static_cast<std::int64_t>(progress() * static_cast<double>(fine));
  return optim::linear_warmup(step, warmup) * optim::cosine(at + 1, fine + 1, 0, options_.lr_floor);
}

Trainer::Step Trainer::forward_backward() {
  const Batch batch = data_.next();
  const TrainingScope training(rng_);
  const Prediction prediction = predict(model_, batch);
  const Tensor loss = nn::sequence_cross_entropy(
      prediction.logits, prediction.targets,
      {.pad = prediction.ignored, .label_smoothing = options_.label_smoothing});
  Step result;
  result.loss = loss.item();
  if (!std::isfinite(result.loss)) fail("the loss is {}", result.loss);
  std::visit([](auto& optimizer) { optimizer.zero_grad(); }, optimizer_);
  loss.backward();
  result.gradient_norm = optim::clip_grad_norm(
      parameters_,
      options_.clip_norm > 0 ? options_.clip_norm : std::numeric_limits<double>::infinity());
  result.prediction = {prediction.logits.detach(), prediction.targets, prediction.ignored};
  result.tokens = nn::token_count(prediction.targets, prediction.ignored);
  return result;
}

Trainer::Step Trainer::step() {
  std::optional<DetectAnomaly> anomalies;
  if (options_.detect_anomaly) anomalies.emplace();
  Step result;
  try {
    result = forward_backward();
  } catch (const Error& error) {  // the data fits the model: nothing else can go wrong
    throw Diverged(fmt::format("step {}: {}", state_.step + 1, error.what()));
  }
  ++state_.step;
  const double factor = lr_factor();
  std::visit([&](auto& optimizer) { optimizer.step(factor); }, optimizer_);
  state_.random = static_cast<std::int64_t>(rng_.counter());
  result.lr = options_.lr * factor;
  return result;
}

bool Trainer::validated(double loss) {
  plateau_.update(loss);
  if (state_.best_step == 0 || loss < state_.best_loss) {
    state_.best_step = state_.step;
    state_.best_loss = loss;
    state_.without_improvement = 0;
    return true;
  }
  ++state_.without_improvement;
  return false;
}

nn::NamedTensors Trainer::tensors() {
  nn::NamedTensors all;
  const auto add = [&](const std::string& prefix, const auto& tensors) {
    for (const auto& [name, tensor] : tensors) all.emplace_back(prefix + name, tensor);
  };
  add("model.", std::visit([](const auto& m) { return nn::named_tensors(m); }, model_));
  add("optimizer.", std::visit([](const auto& o) { return o.state(); }, optimizer_));
  add("plateau.", nn::named_tensors(plateau_));
  return all;
}

void Trainer::save(const std::string& path) {
  state_.seconds = seconds();
  nn::NamedTensors all = tensors();
  all.emplace_back("data.position", as_tensor(data_.position()));
  nn::save_named(path, all, nn::config_metadata(state_));
}

void Trainer::load(const std::string& path) {
  nn::NamedTensors all = tensors();
  const Tensor position = as_tensor(data_.position());
  all.emplace_back("data.position", position);
  const TrainerState state = nn::config_from<TrainerState>(load_metadata(path), path);
  nn::load_named(path, all);
  data_.seek(position.to_vector<std::int64_t>());
  state_ = state;
  rng_.set_counter(static_cast<std::uint64_t>(state.random));
  seconds_before_ = state.seconds;
  start_ = Clock::now();
}

}  // namespace gradzoo::examples
