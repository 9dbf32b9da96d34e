// Running averages of weights. The averages stay where they are while the parameters hold copies of
// them, so that a checkpoint written meanwhile has the right ones.
#include "optim/average.h"

#include "core/ops/update.h"
#include "core/ops/view.h"

namespace gradzoo::optim {

Ema::Ema(const Parameters& parameters, double decay) : decay_(decay) {
  check(decay >= 0 && decay < 1, "Ema: decay must be in [0, 1), got {}", decay);
  for (Parameter& parameter : unique_parameters("Ema", {parameters})) {
    items_.push_back({parameter, clone(parameter.tensor.detach())});
  }
}

void Ema::update() {
  check(!swapped_in_, "Ema: update while AveragedWeights lives");
  for (const Item& item : items_) average_update(item.average, item.parameter.tensor, decay_);
}

NamedTensors Ema::state() const {
  NamedTensors all;
  for (const Item& item : items_) all.emplace_back(item.parameter.name, item.average);
  return all;
}

AveragedWeights::AveragedWeights(Ema& ema) : ema_(ema) {
  check(!ema.swapped_in_, "AveragedWeights: the averages are already in use");
  for (const Ema::Item& item : ema.items_) {
    weights_.push_back(clone(item.parameter.tensor.detach()));
  }
  // From here on nothing fails: the weights are all there, shapes and dtypes equal.
  for (const Ema::Item& item : ema.items_) assign(item.parameter.tensor, item.average);
  ema.swapped_in_ = true;
}

AveragedWeights::~AveragedWeights() {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    assign(ema_.items_[i].parameter.tensor, weights_[i]);
  }
  ema_.swapped_in_ = false;
}

}  // namespace gradzoo::optim
