// What all optimizers share: groups of parameters, their state, and the step over them. What makes
// an optimizer is its Rule:
//
//     struct Rule {
//       using Options = …;
//       static constexpr const char* kName = …;
//       static void check_options(const Options&);             // throws for what makes no sense
//       static std::vector<StateTensor> state(const Options&); // what is kept for each parameter
//       static void update(const Tensor& parameter, const Tensor& gradient,
//                          const std::vector<Tensor>& state, const Options&, std::int64_t step,
//                          double lr_factor);                  // in place
//     };
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/create.h"
#include "core/tensor.h"
#include "optim/parameters.h"

namespace gradzoo::optim {

/// A tensor that a rule keeps for each parameter, shaped like it.
struct StateTensor {
  const char* name;
  bool needed = true;  ///< false: not with these options; the rule gets an undefined tensor
  double start = 0;
};

/// Counts in a tensor, so that they are saved and loaded like everything else.
Tensor make_count();
std::int64_t read_count(const Tensor& count);
void increment_count(const Tensor& count);

/// Updates each parameter that has a gradient, once a step, however often the parameter was given;
/// those without one stay as they are. Use it by the names Sgd, Adam, RmsProp, Adagrad.
template <class Rule>
class Optimizer {
 public:
  using Options = typename Rule::Options;

  /// Parameters with options of their own, such as no weight decay for biases and norms.
  struct Group {
    Parameters parameters;
    Options options;
  };

  /// Throws for options out of range, without any parameters, and as unique_parameters does.
  Optimizer(const Parameters& parameters, const Options& options = {})
      : Optimizer(std::vector<Group>{{parameters, options}}) {}
  explicit Optimizer(const std::vector<Group>& groups);
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(Optimizer&&) noexcept = default;

  /// One step along the gradients, with every group's lr multiplied by `lr_factor`, which is what
  /// a schedule gives: adam.step(noam(adam.steps() + 1, d_model, warmup)). Throws, changing
  /// nothing, for a factor or options out of range.
  void step(double lr_factor = 1);
  /// Forgets the gradients.
  void zero_grad();
  /// How many times step() was called, before a checkpoint was loaded too.
  std::int64_t steps() const { return read_count(steps_); }
  /// Of one group; may be changed between steps. What state is kept was decided at construction.
  Options& options(std::size_t group = 0);

  /// Everything that the next steps depend on besides parameters and options, as "steps",
  /// "NAME.steps" and "NAME.mean": the tensors themselves, so that loading into them resumes.
  NamedTensors state() const;
  /// The same for nn::save and nn::load, alone or as a field beside the model.
  static void fields(auto& self, auto&& visit) {
    for (auto& [name, tensor] : self.state()) visit(name.c_str(), tensor);
  }

 private:
  // Each parameter counts its own steps, since it may get its first gradient late.
  struct Item {
    Parameter parameter;
    Tensor steps;
    std::vector<Tensor> state;
  };

  std::vector<Options> options_;
  std::vector<Item> items_;
  Tensor steps_ = make_count();
};

template <class Rule>
Optimizer<Rule>::Optimizer(const std::vector<Group>& groups) {
  std::vector<Parameters> parameters;
  for (const Group& group : groups) {
    Rule::check_options(group.options);
    options_.push_back(group.options);
    parameters.push_back(group.parameters);
  }
  for (Parameter& parameter : unique_parameters(Rule::kName, parameters)) {
    Item item{parameter, make_count(), {}};
    for (const StateTensor& kept : Rule::state(options_[parameter.group])) {
      item.state.push_back(kept.needed ? full_like(parameter.tensor.detach(), kept.start)
                                       : Tensor());
    }
    items_.push_back(std::move(item));
  }
  check(!items_.empty(), "{}: there are no parameters", Rule::kName);
}

template <class Rule>
typename Rule::Options& Optimizer<Rule>::options(std::size_t group) {
  check(group < options_.size(), "{}: there is no group {}, only {}", Rule::kName, group,
        options_.size());
  return options_[group];
}

template <class Rule>
void Optimizer<Rule>::step(double lr_factor) {
  check(lr_factor >= 0, "{}: lr_factor must not be negative, got {}", Rule::kName, lr_factor);
  for (const Options& options : options_) Rule::check_options(options);
  increment_count(steps_);
  for (const Item& item : items_) {
    const Tensor gradient = item.parameter.tensor.grad();
    if (!gradient.defined()) continue;
    increment_count(item.steps);
    Rule::update(item.parameter.tensor, gradient, item.state, options_[item.parameter.group],
                 read_count(item.steps), lr_factor);
  }
}

template <class Rule>
void Optimizer<Rule>::zero_grad() {
  for (Item& item : items_) item.parameter.tensor.zero_grad();
}

template <class Rule>
NamedTensors Optimizer<Rule>::state() const {
  NamedTensors all = {{"steps", steps_}};
  for (const Item& item : items_) {
    all.emplace_back(item.parameter.name + ".steps", item.steps);
    const auto kept = Rule::state(options_[item.parameter.group]);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!item.state[i].defined()) continue;
      all.emplace_back(item.parameter.name + "." + kept[i].name, item.state[i]);
    }
  }
  return all;
}

}  // namespace gradzoo::optim
