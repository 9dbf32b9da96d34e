// Modes: each holds in its scope and its thread, and ends however the scope is left.
#include "core/scope.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

TEST_CASE("names of nested scopes make a path") {
  CHECK(path_of(modes().scope) == "");
  {
    const Scope model("Transformer");
    CHECK(path_of(modes().scope) == "Transformer");
    {
      const Scope layer("EncoderLayer 0");
      CHECK(path_of(modes().scope) == "Transformer/EncoderLayer 0");
    }
    CHECK(path_of(modes().scope) == "Transformer");
  }
  CHECK(path_of(modes().scope) == "");
}

TEST_CASE("ops carry the scope they ran in, and leaves the one they were made in") {
  Tensor x, y, z;
  {
    const Scope model("Model");
    x = ones({2}).requires_grad_();
    const Scope layer("Layer");
    y = exp(x);
  }
  z = exp(y);
  CHECK(path_of(x.node()->scope) == "Model");
  CHECK(path_of(y.node()->scope) == "Model/Layer");
  CHECK(path_of(z.node()->scope) == "");
}

TEST_CASE("gradients of gradients carry the scope of the op they come from") {
  const Tensor x = ones({2}).requires_grad_();
  Tensor y;
  {
    const Scope layer("Layer");
    y = exp(x);
  }
  const Scope outside("Outside");
  const Tensor g = grad({sum(y)}, {x}, {.create_graph = true})[0];
  CHECK(path_of(g.node()->scope) == "Layer");
  CHECK(path_of(modes().scope) == "Outside");
}

TEST_CASE("modes nest, and end when an exception leaves the scope") {
  Rng outer_rng(1), inner_rng(2);
  const TrainingScope outer(outer_rng);
  try {
    const NoGrad no_grad;
    const DetectAnomaly anomaly;
    const TrainingScope inner(inner_rng);
    CHECK_FALSE(modes().grad_enabled);
    CHECK(modes().detect_anomaly);
    CHECK(modes().training == &inner_rng);
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  CHECK(modes().grad_enabled);
  CHECK_FALSE(modes().detect_anomaly);
  CHECK(modes().training == &outer_rng);
}

TEST_CASE("every mode belongs to its thread") {
  Rng rng(1);
  const NoGrad no_grad;
  const DetectAnomaly anomaly;
  const TrainingScope training(rng);
  const Scope scope("Here");
  std::thread([] {
    CHECK(modes().grad_enabled);
    CHECK_FALSE(modes().detect_anomaly);
    CHECK(modes().training == nullptr);
    CHECK(modes().scope == nullptr);
    CHECK(modes().trace == nullptr);
    const NoGrad other;
  }).join();
  CHECK_FALSE(modes().grad_enabled);
}
