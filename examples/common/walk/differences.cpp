// Nudges one number at a time and looks how far the result moves.
#include "examples/common/walk/differences.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "examples/common/walk/numbers.h"

namespace gradzoo::examples {
namespace {

constexpr std::int64_t kMost = 6;

// The result of a run that nothing is recorded of.
double run(const std::function<Tensor()>& function) {
  const Unseen unseen;
  return function().item();
}

double run_nudged(const std::function<Tensor()>& function, const Nudge& nudge) {
  const Unseen unseen;
  const Trace trace(nudge);
  return function().item();
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_same_steps(const std::vector<TraceStep>& before, const std::vector<TraceStep>& now) {
  const std::size_t common = std::min(before.size(), now.size());
  for (std::size_t i = 0; i < common; ++i) {
    const std::string_view was = before[i].op.name, is = now[i].op.name;
    const bool equal = was == is && before[i].outputs[0].shape() == now[i].outputs[0].shape();
    check(equal,
          "walk: op {} of the function was {} {}, and {} {} when it ran again: what it does must "
          "not depend on chance or on an earlier run",
          i + 1, was, before[i].outputs[0].shape(), is, now[i].outputs[0].shape());
  }
  check(before.size() == now.size(),
        "walk: the function ran {} ops, and {} when it ran again: what it does must not depend on "
        "chance or on an earlier run",
        before.size(), now.size());
}

std::vector<std::int64_t> chosen_elements(const std::vector<double>& gradient) {
  const auto count = static_cast<std::int64_t>(gradient.size());
  std::set<std::int64_t> chosen;
  if (count == 0) return {};
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  chosen.insert(std::max_element(gradient.begin(), gradient.end(), smaller) - gradient.begin());
  const std::int64_t others = std::min(count, kMost) - 1;
  for (std::int64_t i = 0; i < others; ++i) {
    std::int64_t element = others == 1 ? 0 : i * (count - 1) / (others - 1);
    while (chosen.contains(element)) element = (element + 1) % count;
    chosen.insert(element);
  }
  return {chosen.begin(), chosen.end()};
}

Difference compare(std::int64_t element, double analytic, double numeric, const Tolerance& t) {
  Difference d{element, analytic, numeric, 0, true};
  const double error = analytic == numeric ? 0 : std::abs(analytic - numeric);
  if (error != 0) d.relative = error / std::max(std::abs(analytic), std::abs(numeric));
  d.right = error <= t.atol + t.rtol * std::abs(numeric);
  return d;
}

// The difference of the results over that of the places; equal infinities have not moved.
double slope(double above, double below, double width) {
  return above == below ? 0 : (above - below) / width;
}

// One number of a leaf, moved for a while. The version of the memory stays: afterwards nothing has
// changed.
template <class T>
class Moved {
 public:
  Moved(T* place, T value) : place_(place), before_(*place) { *place = value; }
  ~Moved() { *place_ = before_; }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

 private:
  T* place_;
  T before_;
};

template <class T>
double leaf_slope(const std::function<Tensor()>& function, const Tensor& leaf, std::int64_t element,
                  double eps) {
  T* place = mutable_data<T>(leaf);
  const Shape index = unravel_index(element, leaf.shape());
  for (int axis = 0; axis < leaf.dim(); ++axis) place += index[axis] * leaf.strides()[axis];
  const T high = *place + static_cast<T>(eps), low = *place - static_cast<T>(eps);
  const auto at = [&](T value) {
    const Moved<T> moved(place, value);
    return run(function);
  };
  const double above = at(high), below = at(low);
  return slope(above, below, static_cast<double>(high) - static_cast<double>(low));
}

// Whether several elements share one place in memory.
bool is_spread(const Tensor& x) {
  for (int axis = 0; axis < x.dim(); ++axis) {
    if (x.strides()[axis] == 0 && x.shape()[axis] > 1) return true;
  }
  return false;
}

}  // namespace

Tolerance tolerance_for(DType dtype, double result) {
  if (dtype == DType::f64) return {1e-6, 1e-5, kTiny};
  return {4e-3, 1e-2, 1e-3 * std::max(1.0, std::abs(result))};
}

Differences::Differences(const std::function<Tensor()>& function,
                         const std::vector<TraceStep>& steps, const Tensor& result)
    : function_(function), steps_(steps), tolerance_(tolerance_for(DType::f64, 1)) {
  const Unseen unseen;
  const Trace trace;
  const double again = function().item();
  check(same(result.item(), again),
        "walk: the function gave {}, then {}: it must give the same each time, so a generator of "
        "random numbers must be made inside it",
        result.item(), again);
  check_same_steps(steps, trace.steps());
  // One op of f32 on the way leaves no more digits than that.
  for (const TraceStep& step : steps) {
    if (step.node != 0 && step.outputs[0].dtype() == DType::f32) {
      tolerance_ = tolerance_for(DType::f32, again);
    }
  }
}

std::vector<Difference> Differences::of_step(std::size_t step, const Tensor& gradient) const {
  const std::vector<double> analytic = numbers_of(gradient);
  const std::vector<double> values = numbers_of(steps_[step].outputs[0]);
  const bool f32 = gradient.dtype() == DType::f32;
  std::vector<Difference> differences;
  for (const std::int64_t element : chosen_elements(analytic)) {
    const auto i = static_cast<std::size_t>(element);
    const double eps = tolerance_.eps;
    const double above = run_nudged(function_, {step, element, eps});
    const double below = run_nudged(function_, {step, element, -eps});
    // How far apart the two values are, as rounding leaves it.
    const double width = f32 ? static_cast<double>(static_cast<float>(values[i] + eps)) -
                                   static_cast<double>(static_cast<float>(values[i] - eps))
                             : (values[i] + eps) - (values[i] - eps);
    differences.push_back(compare(element, analytic[i], slope(above, below, width), tolerance_));
  }
  return differences;
}

std::vector<Difference> Differences::of_leaf(const Tensor& leaf, const Tensor& gradient) const {
  if (is_spread(leaf)) return {};
  const std::vector<double> analytic = numbers_of(gradient);
  std::vector<Difference> differences;
  for (const std::int64_t element : chosen_elements(analytic)) {
    const double numeric = leaf.dtype() == DType::f32
                               ? leaf_slope<float>(function_, leaf, element, tolerance_.eps)
                               : leaf_slope<double>(function_, leaf, element, tolerance_.eps);
    differences.push_back(
        compare(element, analytic[static_cast<std::size_t>(element)], numeric, tolerance_));
  }
  return differences;
}

}  // namespace gradzoo::examples
