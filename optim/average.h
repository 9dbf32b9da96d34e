// Running averages of weights, which often evaluate better than the weights themselves.
#pragma once

#include <vector>

#include "optim/parameters.h"

namespace gradzoo::optim {

/// The exponential moving average of each parameter: average = decay * average +
/// (1 - decay) * parameter, after each step; it starts from the weights at construction.
class Ema {
 public:
  /// Throws for a decay outside [0, 1) and as unique_parameters does.
  explicit Ema(const Parameters& parameters, double decay = 0.999);
  Ema(Ema&&) noexcept = default;
  Ema& operator=(Ema&&) noexcept = default;

  /// To be called after each step of the optimizer. Throws while AveragedWeights lives, when the
  /// parameters are the averages.
  void update();

  /// The averages under the names of the parameters: the tensors themselves, so that loading into
  /// them resumes.
  NamedTensors state() const;
  /// The same for nn::save and nn::load.
  static void fields(auto& self, auto&& visit) {
    for (auto& [name, average] : self.state()) visit(name.c_str(), average);
  }

 private:
  friend class AveragedWeights;
  struct Item {
    Parameter parameter;
    Tensor average;
  };

  double decay_;
  bool swapped_in_ = false;
  std::vector<Item> items_;
};

/// While it lives, the parameters hold their averages: for evaluating, or for saving the model. The
/// weights come back when it goes, on an exception too; steps taken meanwhile are lost. One at a
/// time.
class AveragedWeights {
 public:
  explicit AveragedWeights(Ema& ema);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  Ema& ema_;
  std::vector<Tensor> weights_;
};

}  // namespace gradzoo::optim
