// Learning rates over time.
#include "optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/reference/reference.h"

using namespace gradzoo;
using optim::ReduceOnPlateau;

namespace {

// factor(step) for each of the recorded steps.
template <class Factor>
void compare(const std::string& name, const Factor& factor) {
  const Tensor recorded = test::recorded(test::recorded("schedules"), name, DType::f64);
  std::vector<double> ours;
  for (std::int64_t step = 1; step <= recorded.numel(); ++step) ours.push_back(factor(step));
  test::check_recorded(name, from_vector(ours, recorded.shape()), recorded);
}

void compare(const std::string& name, const optim::PlateauOptions& options, bool negated = false) {
  const Tensor metrics = test::recorded(test::recorded("schedules"), "metrics", DType::f64);
  ReduceOnPlateau plateau(options);
  compare(name, [&](std::int64_t step) {
    const double metric = metrics.at({step - 1});
    return plateau.update(negated ? 5 - metric : metric);
  });
}

}  // namespace

TEST_CASE("PyTorch: LinearLR, StepLR, CosineAnnealingLR, LambdaLR") {
  compare("linear_warmup", [](auto step) { return optim::linear_warmup(step, 6); });
  compare("step_decay", [](auto step) { return optim::step_decay(step, 4, 0.5); });
  compare("noam", [](auto step) { return optim::noam(step, 8, 5); });
  compare("inverse_sqrt", [](auto step) { return optim::inverse_sqrt(step, 5); });
  compare("warm_cosine", [](auto step) { return optim::cosine(step, 16, 4, 0.1); });
  // PyTorch's begins at its peak, which ours reaches at the end of warm-up.
  compare("cosine", [](auto step) { return optim::cosine(step, 20, 1, 0.1); });
}

TEST_CASE("PyTorch: ReduceLROnPlateau") {
  compare("plateau", {.factor = 0.5, .patience = 1});
  compare("plateau_floor", {.factor = 0.1, .patience = 0, .threshold = 1e-2, .min_factor = 0.02});
  compare("plateau_cooldown",
          {.factor = 0.5, .patience = 1, .threshold = 0.05, .absolute = true, .cooldown = 3});
  compare("plateau_higher", {.factor = 0.5, .patience = 2, .higher_is_better = true}, true);
}

TEST_CASE("ReduceOnPlateau: the threshold is a part of the best, or absolute, to either side") {
  const auto second = [](double first, double then, optim::PlateauOptions options) {
    options.factor = 0.5;
    options.patience = 0;
    ReduceOnPlateau plateau(options);
    CHECK(plateau.update(first) == 1);
    return plateau.update(then);
  };
  CHECK(second(100, 95, {.threshold = 0.1}) == 0.5);
  CHECK(second(100, 89, {.threshold = 0.1}) == 1);
  CHECK(second(100, 95, {.threshold = 0.1, .absolute = true}) == 1);
  CHECK(second(100, 99.95, {.threshold = 0.1, .absolute = true}) == 0.5);
  CHECK(second(100, 105, {.threshold = 0.1, .higher_is_better = true}) == 0.5);
  CHECK(second(100, 111, {.threshold = 0.1, .higher_is_better = true}) == 1);
}

TEST_CASE("ReduceOnPlateau: a NaN is no improvement; bad options are refused") {
  ReduceOnPlateau plateau({.factor = 0.5, .patience = 1});
  CHECK(plateau.update(std::nan("")) == 1);
  CHECK(plateau.update(std::nan("")) == 0.5);
  CHECK(plateau.update(3) == 0.5);
  CHECK_THROWS_AS(ReduceOnPlateau({.factor = 1}), Error);
  CHECK_THROWS_AS(ReduceOnPlateau({.patience = -1}), Error);
  CHECK_THROWS_AS(ReduceOnPlateau({.threshold = -1}), Error);
}

TEST_CASE("noam: rises to the end of warm-up, then falls with the root of the step") {
  // The values are small, so nothing may be added to the scale of the comparison.
  const auto is = [](double value) { return doctest::Approx(value).epsilon(1e-12).scale(0); };
  CHECK(optim::noam(1, 512, 4000) == is(std::pow(512, -0.5) * std::pow(4000, -1.5)));
  CHECK(optim::noam(4000, 512, 4000) == is(std::pow(512, -0.5) * std::pow(4000, -0.5)));
  CHECK(optim::noam(16000, 512, 4000, 2) == is(2 * std::pow(512, -0.5) * std::pow(16000, -0.5)));
}

TEST_CASE("TRN5: steps count from 1, and without warm-up nothing divides by zero") {
  CHECK_THROWS_AS(optim::noam(0, 512, 4000), Error);
  CHECK_THROWS_AS(optim::noam(1, 512, 0), Error);
  CHECK_THROWS_AS(optim::inverse_sqrt(0, 4), Error);
  CHECK_THROWS_AS(optim::inverse_sqrt(1, -1), Error);
  CHECK_THROWS_AS(optim::step_decay(1, 0, 0.5), Error);
  CHECK_THROWS_AS(optim::constant(0), Error);
  CHECK(optim::linear_warmup(1, 0) == 1);
  CHECK(optim::inverse_sqrt(1, 0) == 1);
  CHECK(optim::inverse_sqrt(4, 0) == 0.5);
}

TEST_CASE("the other schedules meet their ends") {
  CHECK(optim::constant(7) == 1);
  CHECK(optim::constant(7, 0.25) == 0.25);
  CHECK(optim::linear_warmup(1, 4) == 0.25);
  CHECK(optim::linear_warmup(4, 4) == 1);
  CHECK(optim::linear_warmup(9, 4) == 1);
  CHECK(optim::inverse_sqrt(4, 4) == 1);
  CHECK(optim::inverse_sqrt(16, 4) == 0.5);
  CHECK(optim::step_decay(10, 10, 0.1) == 1);
  CHECK(optim::step_decay(11, 10, 0.1) == doctest::Approx(0.1));
  CHECK(optim::cosine(2, 100, 4) == 0.5);
  CHECK(optim::cosine(4, 100, 4) == doctest::Approx(1));
  CHECK(optim::cosine(52, 100, 4) == doctest::Approx(0.5));
  CHECK(optim::cosine(100, 100, 4, 0.1) == doctest::Approx(0.1));
  CHECK(optim::cosine(500, 100, 4, 0.1) == doctest::Approx(0.1));
  CHECK_THROWS_AS(optim::cosine(1, 3, 4), Error);
  CHECK_THROWS_AS(optim::cosine(0, 3), Error);
}
