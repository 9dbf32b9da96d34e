// Training a model of the zoo, one batch at a time, so that a run can be saved after any step and
// taken up again as if it had never stopped.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "examples/common/stream.h"
#include "examples/common/zoo.h"
#include "optim/adagrad.h"
#include "optim/adam.h"
#include "optim/rmsprop.h"
#include "optim/schedule.h"
#include "optim/sgd.h"

namespace gradzoo::examples {

enum class OptimizerKind { sgd, adam, adamw, rmsprop, adagrad };
constexpr std::array<const char*, 5> choice_names(OptimizerKind) {
  return {"sgd", "adam", "adamw", "rmsprop", "adagrad"};
}

enum class ScheduleKind { constant, cosine, noam, inverse_sqrt, step, plateau };
constexpr std::array<const char*, 6> choice_names(ScheduleKind) {
  return {"constant", "cosine", "noam", "inverse_sqrt", "step", "plateau"};
}

struct TrainerOptions {
  OptimizerKind optimizer = OptimizerKind::adam;
  double lr = 2e-3;
  double beta2 = 0.98;      ///< of adam and adamw
  double momentum = 0;      ///< of sgd
  double weight_decay = 0;  ///< of matrices, not of biases and norms
  ScheduleKind schedule = ScheduleKind::cosine;
  std::int64_t warmup_steps = 200;
  double lr_floor = 0;   ///< what the cosine leaves of lr, and the plateau at least
  double clip_norm = 1;  ///< 0: gradients are not clipped
  double label_smoothing = 0;
  std::int64_t steps = 1500;
  double seconds = 0;  ///< of training; 0: `steps` decides
  std::uint64_t seed = 1;
  bool detect_anomaly = false;  ///< what diverges is told with the operation where it began
};

/// A loss or gradient that is not finite; the weights are still those of the step before.
class Diverged : public Error {
 public:
  using Error::Error;
};

/// Numbers that a run continues with.
struct TrainerState {
  std::int64_t step = 0;
  double seconds = 0;
  std::int64_t random = 0;     ///< how many numbers dropout has drawn
  std::int64_t best_step = 0;  ///< of the lowest validation loss; 0: none yet
  double best_loss = 0;
  std::int64_t without_improvement = 0;  ///< validations since

  static void fields(auto& self, auto&& visit) {
    visit("step", self.step);
    visit("seconds", self.seconds);
    visit("random", self.random);
    visit("best_step", self.best_step);
    visit("best_loss", self.best_loss);
    visit("without_improvement", self.without_improvement);
  }
};

class Trainer {
 public:
  /// Refers to model and data, which must outlive it. Throws for options out of range.
  Trainer(const ZooModel& model, BatchStream& data, const TrainerOptions& options);

  struct Step {
    double loss = 0;
    Prediction prediction;  ///< what it was computed from, without history
    double gradient_norm = 0;
    double lr = 0;
    std::int64_t tokens = 0;  ///< that were learned from
  };
  /// One batch forward, backward, and a step of the optimizer. Throws Diverged.
  Step step();
  /// Has the budget of steps or seconds been used?
  bool done() const;
  /// The part of the budget that has been used, from 0 to 1.
  double progress() const;
  /// Of training, earlier runs included.
  double seconds() const;

  /// Tells of a validation loss: true when it is the lowest so far.
  bool validated(double loss);
  const TrainerState& state() const { return state_; }

  /// Everything the run depends on but its options, in one file, and back. Throws naming the file
  /// and all that does not fit; nothing is changed then.
  void save(const std::string& path);
  void load(const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  using AnyOptimizer = std::variant<optim::Sgd, optim::Adam, optim::RmsProp, optim::Adagrad>;

  static AnyOptimizer make_optimizer(const nn::NamedTensors& parameters,
                                     const TrainerOptions& options);
  double lr_factor() const;
  Step forward_backward();
  nn::NamedTensors tensors();

  const ZooModel& model_;
  BatchStream& data_;
  TrainerOptions options_;
  nn::NamedTensors parameters_;
  AnyOptimizer optimizer_;
  optim::ReduceOnPlateau plateau_;
  Rng rng_;
  TrainerState state_;
  double seconds_before_ = 0;  // of earlier runs
  Clock::time_point start_ = Clock::now();
};

}  // namespace gradzoo::examples
