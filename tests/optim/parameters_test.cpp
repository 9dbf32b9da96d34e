// Lists of parameters.
#include "optim/parameters.h"

#include <doctest/doctest.h>

#include "core/ops.h"

using namespace gradzoo;
using optim::unique_parameters;

namespace {

Tensor leaf() { return ones({2}).requires_grad_(); }

}  // namespace

TEST_CASE("TYE3: repeats are dropped, and the first name stays") {
  const Tensor a = leaf(), b = leaf();
  const optim::NamedTensors named = {{"in", a}, {"mid", b}, {"out", a}};
  const auto found = unique_parameters("Adam", {named});
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "in");
  CHECK(found[0].tensor.impl_ptr() == a.impl_ptr());
  CHECK(found[1].name == "mid");
}

TEST_CASE("parameters without names are numbered through all groups") {
  const auto found = unique_parameters("Adam", {{leaf(), leaf()}, std::vector<Tensor>{leaf()}});
  REQUIRE(found.size() == 3);
  CHECK(found[1].name == "1");
  CHECK(found[1].group == 0);
  CHECK(found[2].name == "2");
  CHECK(found[2].group == 1);
}

TEST_CASE("what cannot be trained, or not told apart, is refused") {
  const Tensor a = leaf();
  CHECK_THROWS_WITH_AS(unique_parameters("Adam", {{a, ones({2})}}),
                       "Adam: parameter 1 is not a leaf that requires a gradient", Error);
  CHECK_THROWS_AS(unique_parameters("Adam", {{a * 2.0}}), Error);
  CHECK_THROWS_AS(unique_parameters("Adam", {{Tensor()}}), Error);
  const optim::NamedTensors strided = {{"w", transpose(ones({2, 3}), 0, 1).requires_grad_()}};
  CHECK_THROWS_WITH_AS(unique_parameters("Ema", {strided}), "Ema: parameter w is not contiguous",
                       Error);
  const optim::NamedTensors first = {{"w", a}}, second = {{"v", leaf()}, {"u", a}};
  CHECK_THROWS_WITH_AS(unique_parameters("Adam", {first, second}),
                       "Adam: parameter u is in groups 0 and 1", Error);
  const optim::NamedTensors same = {{"w", leaf()}};
  CHECK_THROWS_WITH_AS(unique_parameters("Adam", {first, same}),
                       "Adam: two parameters have the name w", Error);
}
