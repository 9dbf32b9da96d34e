// Walking a module's fields: names, ties, copies.
#include "nn/module.h"

#include <doctest/doctest.h>

#include "core/ops.h"
#include "nn/clone.h"
#include "nn/linear.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

struct Everything {
  Tensor weight;
  Tensor buffer;
  Tensor missing;
  std::vector<Linear> layers;
  std::optional<Linear> maybe, never;
  std::variant<Linear, std::vector<Linear>> either;
  int number = 3;
  std::string text = "x";

  static void fields(auto& self, auto&& visit) {
    visit("weight", self.weight);
    visit("buffer", self.buffer);
    visit("missing", self.missing);
    visit("layers", self.layers);
    visit("maybe", self.maybe);
    visit("never", self.never);
    visit("either", self.either);
    visit("number", self.number);
    visit("text", self.text, "with a description");
  }
};

struct Tied {
  std::vector<Linear> layers;
  static void fields(auto& self, auto&& visit) { visit("layers", self.layers); }
};

Everything make() {
  Rng rng(1);
  Everything e;
  e.weight = parameter(randn({2, 3}, rng));
  e.buffer = randn({4}, rng);
  e.layers = {Linear(2, 3, rng), Linear(3, 2, rng, {.bias = false})};
  e.maybe = Linear(1, 1, rng);
  e.either = std::vector<Linear>{Linear(2, 2, rng)};
  return e;
}

std::vector<std::string> names(const NamedTensors& tensors) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : tensors) all.push_back(name);
  return all;
}

}  // namespace

TEST_CASE("names follow the fields, in order, through vectors, optionals and variants") {
  const Everything e = make();
  CHECK(names(named_tensors(e)) == std::vector<std::string>{"weight", "buffer", "layers.0.weight",
                                                            "layers.0.bias", "layers.1.weight",
                                                            "maybe.weight", "maybe.bias",
                                                            "either.0.weight", "either.0.bias"});
  CHECK(names(named_parameters(e)).size() == 8);  // all but the buffer
  CHECK(parameter_count(e) == 6 + (6 + 3) + 6 + (1 + 1) + (4 + 2));
}

TEST_CASE("TYE3: a tied weight is one parameter, listed under its first name") {
  Rng rng(2);
  std::vector<Linear> twice(2, Linear(3, 4, rng));  // copies share
  const Tied tied{twice};
  CHECK(names(named_parameters(tied)) ==
        std::vector<std::string>{"layers.0.weight", "layers.0.bias"});
  CHECK(named_tensors(tied).size() == 4);
  CHECK(parameter_count(tied) == 16);
  const Tied copy = clone(tied);
  CHECK(parameters(copy).size() == 2);  // still tied
  CHECK(copy.layers[0].weight.impl_ptr() != tied.layers[0].weight.impl_ptr());
}

TEST_CASE("copies share their weights, clones do not") {
  const Everything original = make();
  const Everything copy = original;
  const Everything twin = clone(original);
  CHECK(twin.weight.requires_grad());
  CHECK_FALSE(twin.buffer.requires_grad());
  assign(original.weight, zeros({2, 3}));
  CHECK(copy.weight.at({1, 2}) == 0);
  CHECK(twin.weight.at({1, 2}) != 0);
}

TEST_CASE("to() changes the dtype of a copy and keeps the values") {
  const Everything e = make();
  const Everything wide = to(e, DType::f64);
  CHECK(e.weight.dtype() == DType::f32);
  for (const auto& [name, tensor] : named_tensors(wide)) CHECK(tensor.dtype() == DType::f64);
  CHECK(wide.weight.at({1, 1}) == e.weight.at({1, 1}));
  CHECK(names(named_parameters(wide)) == names(named_parameters(e)));
}
