// Curves: all numbers of a run's metrics, and as few points as show every peak.
#include "examples/common/curves.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Point> points_of(const std::vector<double>& values) {
  std::vector<Point> points;
  for (const double value : values) {
    points.push_back({static_cast<double>(10 * (points.size() + 1)), value});
  }
  return points;
}

std::vector<double> steps_of(const std::vector<Point>& points) {
  std::vector<double> steps;
  for (const Point& point : points) steps.push_back(point.step);
  return steps;
}

bool lower(const Point& a, const Point& b) { return a.value < b.value; }

}  // namespace

TEST_CASE("thinned: few points stay as they are") {
  CHECK(thinned({}, 4).empty());
  CHECK(steps_of(thinned(points_of({3, 1, 2, 5}), 4)) == std::vector<double>{10, 20, 30, 40});
  CHECK_THROWS_WITH_AS(thinned({}, 3), doctest::Contains("at least 4 points, got 3"), Error);
}

TEST_CASE("thinned: ends, and the extremes of each stretch, in their order") {
  // Two stretches between the ends: 1 9 2 and 5 3 4.
  CHECK(steps_of(thinned(points_of({0, 1, 9, 2, 5, 3, 4, 7}), 6)) ==
        std::vector<double>{10, 20, 30, 50, 60, 80});
  // The highest before the lowest, and a stretch where all are alike.
  CHECK(steps_of(thinned(points_of({0, 9, 2, 1, 6, 6, 6, 0}), 6)) ==
        std::vector<double>{10, 20, 40, 50, 80});
}

TEST_CASE("thinned: no peak is lost, whatever the sizes") {
  Rng rng(5);
  for (const std::size_t most : {4U, 5U, 6U, 7U, 100U, 101U}) {
    for (const std::size_t count : {most + 1, most + 2, 2 * most - 1, 2 * most, 1000 + most}) {
      CAPTURE(most);
      CAPTURE(count);
      std::vector<double> values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(rng.uniform());
      const std::vector<Point> all = points_of(values), kept = thinned(all, most);
      CHECK(kept.size() <= most);
      CHECK(kept.size() >= most / 2);
      CHECK(kept.front().step == all.front().step);
      CHECK(kept.back().step == all.back().step);
      CHECK(std::max_element(kept.begin(), kept.end(), lower)->value ==
            std::max_element(all.begin(), all.end(), lower)->value);
      CHECK(std::min_element(kept.begin(), kept.end(), lower)->value ==
            std::min_element(all.begin(), all.end(), lower)->value);
      const std::vector<double> steps = steps_of(kept);
      CHECK(std::is_sorted(steps.begin(), steps.end()));
      CHECK(std::adjacent_find(steps.begin(), steps.end()) == steps.end());
      for (const Point& point : kept) {
        CHECK(point.value == values[static_cast<std::size_t>(point.step / 10) - 1]);
      }
    }
  }
}

TEST_CASE("thinned: a NaN hides no number, and stays where there is nothing else") {
  // Stretches: NaN 5 NaN, NaN NaN NaN.
  const std::vector<Point> kept = thinned(points_of({1, kNaN, 5, kNaN, kNaN, kNaN, kNaN, 2}), 6);
  CHECK(steps_of(kept) == std::vector<double>{10, 30, 50, 80});
  CHECK(kept[1].value == 5);
  CHECK(std::isnan(kept[2].value));
}

TEST_CASE("metrics: numbers by model and name, in the order of the file") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "metrics.jsonl";
  test::write_bytes(path,
                    "{\"step\":10,\"loss\":2.5,\"lr\":1e-3}\n"
                    "{\"step\":20,\"loss\":null,\"lr\":2e-3}\n"
                    "{\"step\":20,\"valid_loss\":2.25,\"best\":true}\n"
                    "\n[1]\n{\"loss\":1}\n{\"step\":\"x\",\"loss\":1}\n"
                    "{\"model\":\"gru\",\"step\":10,\"loss\":3}\n"
                    "{\"step\":30,\"lo");
  const auto metrics = read_metrics(path);
  REQUIRE(metrics.size() == 2);
  const Curves& own = metrics.at("");
  CHECK(own.size() == 3);  // no "best", which is no number, and no "step"
  REQUIRE(own.at("loss").size() == 2);
  CHECK(own.at("loss")[0].step == 10);
  CHECK(own.at("loss")[0].value == 2.5);
  CHECK(own.at("loss")[1].step == 20);
  CHECK(std::isnan(own.at("loss")[1].value));
  CHECK(own.at("lr")[1].value == 2e-3);
  CHECK(own.at("valid_loss")[0].value == 2.25);
  CHECK(metrics.at("gru").size() == 1);
  CHECK(metrics.at("gru").at("loss")[0].value == 3);
}

TEST_CASE("metrics: an empty file has none, a missing one is named") {
  const test::TemporaryDirectory directory;
  test::write_bytes(directory / "empty", "");
  CHECK(read_metrics(directory / "empty").empty());
  CHECK_THROWS_WITH_AS(read_metrics(directory / "none"), doctest::Contains("none: No such file"),
                       Error);
}
