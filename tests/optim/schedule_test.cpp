// Learning rates over time.
#include "optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"

using namespace gradzoo;

TEST_CASE("noam: rises to the end of warm-up, then falls with the root of the step") {
  CHECK(optim::noam(1, 512, 4000) == doctest::Approx(std::pow(512, -0.5) * std::pow(4000, -1.5)));
  CHECK(optim::noam(4000, 512, 4000) ==
        doctest::Approx(std::pow(512, -0.5) * std::pow(4000, -0.5)));
  CHECK(optim::noam(16000, 512, 4000, 2) ==
        doctest::Approx(2 * std::pow(512, -0.5) * std::pow(16000, -0.5)));
}

TEST_CASE("TRN5: steps count from 1, and without warm-up nothing divides by zero") {
  CHECK_THROWS_AS(optim::noam(0, 512, 4000), Error);
  CHECK_THROWS_AS(optim::noam(1, 512, 0), Error);
  CHECK(optim::linear_warmup(1, 0) == 1);
}

TEST_CASE("linear_warmup and cosine meet their ends") {
  CHECK(optim::linear_warmup(1, 4) == 0.25);
  CHECK(optim::linear_warmup(4, 4) == 1);
  CHECK(optim::linear_warmup(9, 4) == 1);
  CHECK(optim::cosine(2, 100, 4) == 0.5);
  CHECK(optim::cosine(4, 100, 4) == doctest::Approx(1));
  CHECK(optim::cosine(52, 100, 4) == doctest::Approx(0.5));
  CHECK(optim::cosine(100, 100, 4, 0.1) == doctest::Approx(0.1));
  CHECK(optim::cosine(500, 100, 4, 0.1) == doctest::Approx(0.1));
  CHECK_THROWS_AS(optim::cosine(1, 3, 4), Error);
}
