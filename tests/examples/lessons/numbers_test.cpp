// Numbers of lessons: rounding, leaves, tables.
#include "examples/lessons/numbers.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/create.h"
#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

TEST_CASE("short numbers have one decimal, and are leaves where asked") {
  Rng rng(1);
  const Tensor x = short_normal({50}, rng);
  CHECK(x.dtype() == DType::f64);
  for (const double value : x.to_vector<double>()) {
    CHECK(std::abs(value * 10 - std::round(value * 10)) < 1e-12);
  }
  CHECK(gradzoo::std(x).item() > 0.5);
  CHECK_FALSE(x.requires_grad());
  const Tensor leaf = short_leaf({2}, rng);
  CHECK(leaf.requires_grad());
  CHECK(leaf.is_leaf());
  CHECK(rounded(tensor({1.26, -1.24, 0.05}, DType::f64), 1).to_vector<double>() ==
        std::vector<double>{1.3, -1.2, 0.1});
}

TEST_CASE("rounding in place keeps leaves; gradients are forgotten") {
  Tensor w = tensor({1.234, 5.678}, DType::f64);
  w.requires_grad_();
  const Names names = {{"w", w}, {"constant", tensor({1}, DType::f64)}};
  round_in_place(names, 2);
  CHECK(w.to_vector<double>() == std::vector<double>{1.23, 5.68});
  sum(w * w).backward();
  CHECK(w.grad().defined());
  forget_gradients(names);
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("grids have names at both sides") {
  const WalkTable table =
      grid("query", {"a", "b"}, {"x", "y", "z"}, tensor({{1, 0.25, 0}, {0.5, 2, 3}}, DType::f64));
  CHECK(table.heads == std::vector<std::string>{"query", "x", "y", "z"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == std::vector<std::string>{"a", "1.000", "0.250", "0.000"});
  CHECK(table.rows[1] == std::vector<std::string>{"b", "0.500", "2.000", "3.000"});
  CHECK(size_of(tensor({3, 4}, DType::f64)) == 5);
  CHECK(fixed(0.12345, 2) == "0.12");
}
