// Every layer of the table taken apart: differences of all that is computed on the way.
#include <doctest/doctest.h>

#include "core/ops.h"
#include "examples/common/layers/table.h"
#include "examples/common/walk/lesson.h"
#include "examples/common/walk/walk_text.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

// The sum of the outputs, each times a random number.
Walk walk_through(const LayerRow& row) {
  Lesson lesson(row.layer, 1);
  const LayerCase made = row.make(lesson.rng());
  Names names = made.inputs;
  names.insert(names.end(), made.weights.begin(), made.weights.end());
  Inputs arguments;
  for (auto& [name, tensor] : names) {
    if (is_floating(tensor.dtype())) tensor.requires_grad_();
    arguments.push_back(tensor);
  }
  const Tensor upstream = randn(made.f(arguments).shape(), lesson.rng(), DType::f64);
  lesson.walk(row.layer, names, [&] { return sum(upstream * made.f(arguments)); });
  return lesson.result();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("walk: every layer can be stepped through, and is right at every value on its way") {
  std::size_t differences = 0;
  for (const LayerRow& row : layer_table()) {
    CAPTURE(row.layer);
    CAPTURE(row.option);
    const Walk walk = walk_through(row);
    const WalkCheck check = check_walk(walk);
    const std::string report = joined(check_lines(walk));
    CAPTURE(report);
    CHECK(check.wrong.empty());
    CHECK(check.differences > 0);
    differences += check.differences;
    for (const WalkNode& node : walk.nodes) {
      // What gets a gradient and no differences is what the layer made itself.
      const bool examined = !node.differences.empty() || !node.gradient.defined();
      CHECK((examined || node.value.numel() == 0));
      if (node.kind != WalkNode::Kind::op) continue;
      CHECK(node.op.forward != std::string());
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        CHECK(argument_name(node.op, k).find("input") == std::string::npos);
      }
    }
  }
  CHECK(differences > 10000);
}
