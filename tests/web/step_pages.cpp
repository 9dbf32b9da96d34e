// Writes pages of walks for step_*_test.py, and beside each the engine's numbers, taken from the
// tensors themselves: FOLDER/NAME.html and FOLDER/NAME.json.
//
// usage: step_pages FOLDER [NAME]
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/ops.h"
#include "examples/common/walk/lesson.h"
#include "examples/common/walk/numbers.h"
#include "examples/common/walk/walk_page.h"
#include "models/transformer.h"
#include "nn/module.h"
#include "optim/sgd.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Json = nlohmann::ordered_json;

Json numbers(const Tensor& x) { return x.defined() ? Json(numbers_of(x)) : Json(); }

void write(const std::string& folder, const std::string& name, const Walk& walk) {
  write_walk_page(folder + "/" + name + ".html", walk);
  Json nodes = Json::array(), steps = Json::array();
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    const WalkNode& node = walk.nodes[i];
    Json relative = Json::array();
    for (const Difference& d : node.differences) relative.push_back(d.relative);
    nodes.push_back({{"label", walk.label(i)},
                     {"op", node.op.name},
                     {"forward", node.op.forward},
                     {"backward", node.op.backward},
                     {"inputs", node.inputs},
                     {"value", numbers(node.value)},
                     {"gradient", numbers(node.gradient)},
                     {"relative", relative},
                     {"sources", node.sources}});
  }
  for (const WalkStep& step : walk.steps) {
    Json uses = Json::array();
    for (const WalkUse& use : step.uses) {
      uses.push_back({{"node", use.node},
                      {"use", use.use},
                      {"uses", use.uses},
                      {"before", numbers(use.before)},
                      {"added", numbers(use.added)},
                      {"after", numbers(use.after)}});
    }
    steps.push_back({{"kind", static_cast<int>(step.kind)},
                     {"node", step.node == kNone ? Json() : Json(step.node)},
                     {"uses", uses}});
  }
  std::ofstream(folder + "/" + name + ".json") << Json{{"nodes", nodes}, {"steps", steps}};
}

// Names and texts that would do harm if they were not only text.
Walk odd_names() {
  const std::string script = "x<script>alert(1)</script>",
                    quotes = "\"&'<!--<img src=x onerror=alert(1)> \\N";
  Lesson lesson(script, 0);
  Tensor a = tensor({{1, -2}, {0.5, 3}}, DType::f64).requires_grad_();
  Tensor b = tensor({2, 0.25}, DType::f64).requires_grad_();
  lesson.say(script, quotes + "\n\n</script>", {{script, quotes}, {{quotes, script}}});
  lesson.walk(quotes, {{script, a}, {quotes, b}}, [&] {
    const Scope scope(script);
    const Tensor y = a * b;
    return sum(y * y + a);
  });
  lesson.update(script, quotes, {{script, a}}, [&] { assign(a, a.detach() - 0.1 * a.grad()); });
  return lesson.result();
}

// Three layers that are the same, the last of them seen twice, and two heads side by side.
Walk layers() {
  Lesson lesson("three layers", 0);
  const Tensor x = randn({4, 3}, lesson.rng(), DType::f64);
  Names names = {{"x", x}};
  std::vector<Tensor> weights;
  for (int i = 0; i < 3; ++i) {
    weights.push_back((0.5 * randn({3, 3}, lesson.rng(), DType::f64)).requires_grad_());
    names.emplace_back(fmt::format("layers.{}.weight", i), weights.back());
  }
  lesson.walk("layers", names, [&] {
    Tensor y = x;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Scope scope(fmt::format("Layer {}", i + 1));
      y = y + tanh(linear(y, weights[i]));
    }

    std::vector<Tensor> heads;
    for (int i = 0; i < 2; ++i) {
      const Scope scope("Head");
      heads.push_back(softmax(y * (i + 1.0), -1));
    }
    return sum(concat(heads, 0) * concat({y, y}, 0));
  });
  return lesson.result();
}

// More steps than the largest lesson has, no modules.
Walk chain() {
  Lesson lesson("a long chain", 0);
  Tensor x = (0.1 * randn({8, 8}, lesson.rng(), DType::f64)).requires_grad_();
  lesson.walk("chain", {{"x", x}}, [&] {
    Tensor y = x;
    for (int i = 0; i < 150; ++i) y = tanh(y * 1.01 + x);
    return sum(y);
  });
  return lesson.result();
}

// Tensors too large to be shown whole.
Walk large() {
  Lesson lesson("large tensors", 0);
  Tensor x = randn({40, 30}, lesson.rng(), DType::f64).requires_grad_();
  lesson.walk("f", {{"x", x}}, [&] { return sum(square(x)); });
  return lesson.result();
}

// A training step of a whole model.
Walk transformer() {
  Lesson lesson("a Transformer", 0);
  const models::Transformer model({.source_vocab = 10,
                                   .target_vocab = 10,
                                   .d_model = 8,
                                   .num_heads = 2,
                                   .num_encoder_layers = 2,
                                   .num_decoder_layers = 2,
                                   .d_ff = 16,
                                   .dropout = 0,
                                   .max_length = 16},
                                  lesson.rng());
  const Tensor source = tensor({{4, 5, 6, 7, 2}}, DType::i64), lengths = tensor({5}, DType::i64);
  const Tensor target = tensor({{1, 7, 6, 5, 4}}, DType::i64);
  const Tensor wanted = tensor({7, 6, 5, 4, 2}, DType::i64);
  lesson.walk("loss", nn::named_parameters(model), [&] {
    const Tensor logits = model.decode(target, model.encode(source, lengths));
    return cross_entropy(reshape(logits, {5, 10}), wanted);
  });
  return lesson.result();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string only = argc > 2 ? argv[2] : "";
  const std::pair<const char*, Walk (*)()> pages[] = {{"odd", odd_names},
                                                      {"layers", layers},
                                                      {"chain", chain},
                                                      {"large", large},
                                                      {"transformer", transformer}};
  for (const auto& [name, make] : pages) {
    if (only.empty() || only == name) write(argv[1], name, make());
  }
  return 0;
}
