// Sinusoidal positions.
#include "nn/position.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;

TEST_CASE("POS3: sine and cosine of a pair share a frequency, interleaved") {
  const Tensor table = nn::sinusoidal_positions(3, 4);
  CHECK(table.at({0, 0}) == 0);
  CHECK(table.at({0, 1}) == 1);
  CHECK(table.at({2, 0}) == doctest::Approx(std::sin(2.0)).epsilon(1e-12));
  CHECK(table.at({2, 1}) == doctest::Approx(std::cos(2.0)).epsilon(1e-12));
  CHECK(table.at({2, 2}) == doctest::Approx(std::sin(2.0 / 100)).epsilon(1e-12));
  CHECK(table.at({2, 3}) == doctest::Approx(std::cos(2.0 / 100)).epsilon(1e-12));
}

TEST_CASE("POS1: an odd width works and ends in a sine") {
  const Tensor table = nn::sinusoidal_positions(2, 29);
  CHECK(table.shape() == Shape{2, 29});
  CHECK(table.at({1, 28}) ==
        doctest::Approx(std::sin(std::pow(10000.0, -28.0 / 29))).epsilon(1e-12));
}

TEST_CASE("positions start anywhere") {
  const Tensor all = nn::sinusoidal_positions(10, 6);
  const Tensor late = nn::sinusoidal_positions(4, 6, 5);
  CHECK(late.to_vector<double>() == slice(all, 0, 5, 9).to_vector<double>());
  const nn::SinusoidalPositions positions(10, 6);
  const Tensor x = ones({1, 2, 6});
  CHECK(positions(x, 8).at({0, 1, 0}) == doctest::Approx(1 + std::sin(9.0)));
}

TEST_CASE("POS4, POS5: the last place is used, the next is an error that names both lengths") {
  const nn::SinusoidalPositions positions(10, 6);
  CHECK_NOTHROW(positions(ones({2, 10, 6})));
  CHECK_NOTHROW(positions(ones({2, 1, 6}), 9));
  CHECK_THROWS_WITH_AS(positions(ones({2, 11, 6})),
                       "positions: the sequence has 11 tokens, the model was made for at most 10",
                       Error);
  CHECK_THROWS_AS(positions(ones({2, 1, 6}), 10), Error);
}
