// Finite differences against backward, first and second order.
#include "core/gradcheck.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/autograd.h"
#include "core/create.h"
#include "core/ops/view.h"
#include "core/random.h"
#include "core/scope.h"

namespace gradzoo {
namespace {

// The inputs that are checked. They require gradients while this lives.
class Leaves {
 public:
  Leaves(const char* name, const std::vector<Tensor>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& input = inputs[i];
      if (!is_floating(input.dtype())) continue;
      check(input.dtype() == DType::f64 && input.is_leaf(),
            "{}: input {} is {} and {}; finite differences need a leaf of f64", name, i,
            input.dtype(), input.is_leaf() ? "a leaf" : "the output of an op");
      for (int axis = 0; axis < input.dim(); ++axis) {
        check(input.strides()[axis] != 0 || input.shape()[axis] <= 1,
              "{}: input {} is expanded along axis {}: several elements share one place", name, i,
              axis);
      }
      tensors.push_back(input);
      positions.push_back(i);
    }
    check(!tensors.empty(), "{}: no input is f64, there is nothing to check", name);
    for (Tensor& tensor : tensors) {
      if (tensor.requires_grad()) continue;
      tensor.requires_grad_();
      switched_.push_back(tensor);
    }
  }
  ~Leaves() {
    for (Tensor& tensor : switched_) tensor.impl().node = nullptr;
  }
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

  std::vector<Tensor> tensors;
  std::vector<std::size_t> positions;  // among all inputs

 private:
  std::vector<Tensor> switched_;
};

// An element moved for a while, and put back exactly, also when the function throws. The version
// of the memory stays: afterwards nothing has changed.
class Moved {
 public:
  Moved(double* place, double value) : place_(place), before_(*place) { *place = value; }
  ~Moved() { *place_ = before_; }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

 private:
  double* place_;
  double before_;
};

// Compares pairs, and keeps the worst of each input and how many are wrong.
class Comparison {
 public:
  explicit Comparison(const GradcheckOptions& options) : options_(options) {}

  /// All elements of one input come before those of the next.
  void add(std::size_t input, const Shape& index, double analytic, double numeric) {
    const double error = analytic == numeric ? 0 : std::abs(analytic - numeric);
    const double allowed = options_.atol + options_.rtol * std::abs(numeric);
    const double ratio = error == 0 ? 0 : std::isfinite(error) ? error / allowed : HUGE_VAL;
    if (!(ratio <= 1)) ++wrong_;
    ++compared_;
    const GradcheckElement element{input, index, analytic, numeric, error, ratio};
    if (worst_.empty() || worst_.back().input != input) {
      worst_.push_back(element);
    } else if (ratio > worst_.back().ratio) {
      worst_.back() = element;
    }
  }

  GradcheckResult finish(const std::string& name, const char* first, const char* second) const {
    GradcheckResult result;
    if (compared_ == 0) {
      result.report = name + ": right, there are no elements to compare";
      return result;
    }
    static_cast<GradcheckElement&>(result) =
        *std::max_element(worst_.begin(), worst_.end(),
                          [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
    result.ok = wrong_ == 0;
    result.worst = worst_;
    const std::string verdict =
        result.ok ? "right" : fmt::format("{} of {} elements wrong", wrong_, compared_);
    result.report = fmt::format("{}: {}; worst: input {} at {}: {} {:.9g}, {} {:.9g}, error {:.3g}",
                                name, verdict, result.input, result.index, first, result.analytic,
                                second, result.numeric, result.error);
    return result;
  }

 private:
  const GradcheckOptions& options_;
  std::vector<GradcheckElement> worst_;
  std::size_t wrong_ = 0;
  std::size_t compared_ = 0;
};

// One run of the function: its output, and the gradients for an upstream gradient.
struct Run {
  Shape shape;
  std::vector<double> values;
  std::vector<std::vector<double>> gradients;  // per leaf
};

Tensor evaluate(const std::string& name, const CheckedFunction& f,
                const std::vector<Tensor>& inputs) {
  const Tensor y = f(inputs);
  check(y.defined() && y.dtype() == DType::f64,
        "{}: the function must return an f64 tensor, not {}", name,
        y.defined() ? name_of(y.dtype()) : "an undefined one");
  return y;
}

// Zeros stand for what the function ignores.
std::vector<Tensor> gradients_of(const Tensor& y, const Leaves& leaves, const Tensor& upstream,
                                 bool create_graph) {
  std::vector<Tensor> gradients(leaves.tensors.size());
  if (y.requires_grad()) {
    gradients =
        grad({y}, leaves.tensors,
             {.grad_outputs = {upstream}, .create_graph = create_graph, .allow_unused = true});
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = zeros_like(leaves.tensors[i].detach());
  }
  return gradients;
}

// Away from 0 and of both signs, so that every output counts and none like another.
Tensor random_upstream(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  const Tensor upstream = empty(shape, DType::f64);
  double* values = mutable_data<double>(upstream);
  for (std::int64_t i = 0; i < upstream.numel(); ++i) {
    const double size = 0.5 + rng.uniform();
    values[i] = rng.uniform() < 0.5 ? -size : size;
  }
  return upstream;
}

Run run(const std::string& name, const CheckedFunction& f, const std::vector<Tensor>& inputs,
        const Leaves& leaves, std::uint64_t seed) {
  const Tensor y = evaluate(name, f, inputs);
  Run result{y.shape(), y.to_vector<double>(), {}};
  for (const Tensor& gradient : gradients_of(y, leaves, random_upstream(y.shape(), seed), false)) {
    result.gradients.push_back(gradient.to_vector<double>());
  }
  return result;
}

// Where two runs differ in any bit, as text; empty when they do not.
std::string difference(const Run& a, const Run& b) {
  if (a.shape != b.shape) return fmt::format("shape {}, then {}", a.shape, b.shape);
  const auto compare = [](const std::string& what, const Shape& shape, const std::vector<double>& x,
                          const std::vector<double>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::bit_cast<std::uint64_t>(x[i]) == std::bit_cast<std::uint64_t>(y[i])) continue;
      return fmt::format("{} {} was {:.9g}, then {:.9g}", what,
                         unravel_index(static_cast<std::int64_t>(i), shape), x[i], y[i]);
    }
    return std::string();
  };
  std::string found = compare("output", a.shape, a.values, b.values);
  for (std::size_t i = 0; i < a.gradients.size() && found.empty(); ++i) {
    const Shape flat{static_cast<std::int64_t>(a.gradients[i].size())};
    found = compare(fmt::format("gradient {}, element", i), flat, a.gradients[i], b.gradients[i]);
  }
  return found;
}

// Central difference of the function's product with the upstream gradient.
double numeric_derivative(const std::function<std::vector<double>()>& values, double* place,
                          double eps, const std::vector<double>& upstream) {
  const double high = *place + eps, low = *place - eps;
  std::vector<double> above, below;
  {
    const Moved moved(place, high);
    above = values();
  }
  {
    const Moved moved(place, low);
    below = values();
  }
  check(above.size() == upstream.size() && below.size() == upstream.size(),
        "gradcheck: the shape of the output depends on the values of the inputs");
  double slope = 0;
  for (std::size_t k = 0; k < upstream.size(); ++k) {
    // Equal infinities do not move: their difference is 0, not NaN.
    if (above[k] != below[k]) slope += upstream[k] * ((above[k] - below[k]) / (high - low));
  }
  return slope;
}

// Runs the function again: an unequal result means that there is nothing to compare with.
GradcheckResult repeat(const Run& first, const std::string& name, const CheckedFunction& f,
                       const std::vector<Tensor>& inputs, const Leaves& leaves,
                       std::uint64_t seed) {
  GradcheckResult result;
  const std::string found = difference(first, run(name, f, inputs, leaves, seed));
  result.ok = found.empty();
  result.report = name + ": the function is not deterministic: with the same inputs " + found;
  return result;
}

GradcheckResult compare_with_differences(const std::string& name, const CheckedFunction& f,
                                         const std::vector<Tensor>& inputs, const Leaves& leaves,
                                         const GradcheckOptions& options) {
  const Run first = run(name, f, inputs, leaves, options.seed);
  if (const auto again = repeat(first, name, f, inputs, leaves, options.seed); !again) return again;
  const auto upstream = random_upstream(first.shape, options.seed).to_vector<double>();
  const auto values = [&] { return evaluate(name, f, inputs).to_vector<double>(); };
  Comparison comparison(options);
  for (std::size_t i = 0; i < leaves.tensors.size(); ++i) {
    const Tensor& leaf = leaves.tensors[i];
    for (std::int64_t k = 0; k < leaf.numel(); ++k) {
      const Shape index = unravel_index(k, leaf.shape());
      double* place = mutable_data<double>(leaf);
      for (int axis = 0; axis < leaf.dim(); ++axis) place += index[axis] * leaf.strides()[axis];
      comparison.add(leaves.positions[i], index, first.gradients[i][static_cast<std::size_t>(k)],
                     numeric_derivative(values, place, options.eps, upstream));
    }
  }
  // Once more at the end: a state that the function keeps has moved on by now.
  if (const auto again = repeat(first, name, f, inputs, leaves, options.seed); !again) return again;
  return comparison.finish(name, "analytic", "numeric");
}

// The gradient while it is being recorded (formulas) against the one that is not (often a fused
// kernel): second derivatives are those of the former.
GradcheckResult compare_recorded(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                                 const Leaves& leaves, const GradcheckOptions& options) {
  const std::string name = "gradgradcheck";
  const Run first = run(name, f, inputs, leaves, options.seed);
  if (const auto again = repeat(first, name, f, inputs, leaves, options.seed); !again) return again;
  const auto gradients = [&](bool recorded) {
    const Tensor y = evaluate(name, f, inputs);
    return gradients_of(y, leaves, random_upstream(y.shape(), options.seed), recorded);
  };
  const std::vector<Tensor> recorded = gradients(true), plain = gradients(false);
  Comparison comparison(options);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto a = recorded[i].to_vector<double>(), b = plain[i].to_vector<double>();
    for (std::size_t k = 0; k < a.size(); ++k) {
      comparison.add(leaves.positions[i],
                     unravel_index(static_cast<std::int64_t>(k), plain[i].shape()), a[k], b[k]);
    }
  }
  return comparison.finish(name + " of the gradient itself", "with create_graph", "without");
}

}  // namespace

GradcheckResult gradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  check(options.eps > 0, "gradcheck: eps must be positive, got {}", options.eps);
  const ModeGuard guard;
  modes().grad_enabled = true;
  const Leaves leaves("gradcheck", inputs);
  return compare_with_differences("gradcheck", f, inputs, leaves, options);
}

GradcheckResult gradgradcheck(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  check(options.eps > 0, "gradgradcheck: eps must be positive, got {}", options.eps);
  const ModeGuard guard;
  modes().grad_enabled = true;
  const Leaves leaves("gradgradcheck", inputs);
  const GradcheckResult recorded = compare_recorded(f, inputs, leaves, options);
  if (!recorded) return recorded;

  std::vector<Tensor> all = inputs;
  all.push_back(random_upstream(evaluate("gradgradcheck", f, inputs).shape(), options.seed + 1));
  const CheckedFunction gradient = [&](const std::vector<Tensor>& now) {
    const Tensor y = f({now.begin(), now.end() - 1});
    std::vector<Tensor> parts = gradients_of(y, leaves, now.back(), true);
    for (Tensor& part : parts) part = reshape(part, {part.numel()});
    return concat(parts);
  };
  const Leaves with_upstream("gradgradcheck", all);
  return compare_with_differences("gradgradcheck", gradient, all, with_upstream, options);
}

}  // namespace gradzoo
