// Saving and loading weights by name; what does not fit is listed and changes nothing.
#include "nn/checkpoint.h"

#include <doctest/doctest.h>

#include <cstdio>

#include "core/ops.h"
#include "nn/linear.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

struct Pair {
  Linear first, second;
  static void fields(auto& self, auto&& visit) {
    visit("first", self.first);
    visit("second", self.second);
  }
};

struct Other {
  Linear first, third;
  static void fields(auto& self, auto&& visit) {
    visit("first", self.first);
    visit("third", self.third);
  }
};

const std::string kPath = "checkpoint_test.safetensors";

}  // namespace

TEST_CASE("a saved module loads into another of the same form") {
  Rng rng(1);
  const Pair saved{Linear(2, 3, rng), Linear(3, 1, rng)};
  const Pair loaded{Linear(2, 3, rng), Linear(3, 1, rng)};
  save(kPath, saved, {{"note", "hello"}});
  CHECK(load(kPath, loaded).at("note") == "hello");
  CHECK(loaded.second.weight.to_vector<float>() == saved.second.weight.to_vector<float>());
  CHECK(loaded.first.bias.to_vector<float>() == saved.first.bias.to_vector<float>());
  CHECK(loaded.first.bias.requires_grad());
  std::remove(kPath.c_str());
}

TEST_CASE("LOD1, LOD3: everything that does not fit is reported at once, and nothing is changed") {
  Rng rng(2);
  save(kPath, Pair{Linear(2, 3, rng), Linear(3, 1, rng)});
  const Other other{Linear(2, 4, rng), Linear(1, 1, rng, {.bias = false})};
  const auto before = other.first.weight.to_vector<float>();
  std::string message;
  try {
    load(kPath, other);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find(kPath) != std::string::npos);
  CHECK(message.find("'first.weight' is f32 [3, 2] in the file, f32 [4, 2] in the module") !=
        std::string::npos);
  CHECK(message.find("'first.bias' is f32 [3] in the file") != std::string::npos);
  CHECK(message.find("'third.weight' is missing") != std::string::npos);
  CHECK(message.find("'second.weight' is not expected") != std::string::npos);
  CHECK(other.first.weight.to_vector<float>() == before);
  std::remove(kPath.c_str());
}
