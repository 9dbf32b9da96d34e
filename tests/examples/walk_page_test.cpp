// The data of a walk's page: the engine's numbers, and drawings in which repeats are folded.
#include "examples/common/walk/walk_page.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/ops.h"
#include "core/random.h"
#include "examples/common/walk/drawing.h"
#include "examples/common/walk/layout.h"
#include "examples/common/walk/lesson.h"
#include "examples/common/walk/numbers.h"
#include "examples/common/walk/walk_json.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Json = nlohmann::ordered_json;
using Kind = DrawnItem::Kind;

Tensor random(const Shape& shape, Lesson& lesson) {
  return randn(shape, lesson.rng(), DType::f64).requires_grad_();
}

// PATH as it was, afterwards.
class Path {
 public:
  explicit Path(const std::string& path) : before_(getenv("PATH")) {
    setenv("PATH", path.c_str(), 1);
  }
  ~Path() { setenv("PATH", before_.c_str(), 1); }

 private:
  const std::string before_;
};

// The walk of `function` of one parameter "w" [3, 3].
Walk walk_of(const std::function<Tensor(const Tensor&)>& function) {
  Lesson lesson("test", 1);
  const Tensor w = random({3, 3}, lesson);
  lesson.walk("f", {{"w", w}}, [&] { return function(w); });
  return lesson.result();
}

Tensor layer(const Tensor& x, const Tensor& w, const std::string& name) {
  const Scope scope(name);
  return x + tanh(matmul(x, w));
}

std::vector<std::string> titles(const Drawing& drawing) {
  std::vector<std::string> out;
  for (const DrawnItem& item : drawing.items) out.push_back(item.title);
  return out;
}

bool has(const Drawing& drawing, const std::string& from, const std::string& to) {
  for (const auto& edge : drawing.edges) {
    if (drawing.items[edge.first].title == from && drawing.items[edge.second].title == to) {
      return true;
    }
  }
  return false;
}

// The page's data, read back from the file.
Json data_of(const std::string& path) {
  const std::string html = test::read_bytes(path), begin = "id=\"data\">";
  const std::size_t first = html.find(begin) + begin.size();
  return Json::parse(html.substr(first, html.find("</script>", first) - first));
}

}  // namespace

TEST_CASE("walk page: values, gradients and checks are the engine's") {
  Lesson lesson("test", 7);
  Tensor x = random({2, 3}, lesson), w = random({3, 3}, lesson);
  const auto function = [&] { return sum(softmax(matmul(x, w), -1) * x); };
  lesson.walk("f", {{"x", x}, {"w", w}}, function);
  x.zero_grad();
  w.zero_grad();
  function().backward();
  const Json data = walk_json(lesson.result(), 512);
  const auto same = [&](const Json& index, const Tensor& expected) {
    const Json& tensor = data["tensors"].at(index.get<std::size_t>());
    CHECK(tensor["shape"].size() == static_cast<std::size_t>(expected.dim()));
    const std::vector<double> numbers = numbers_of(expected);
    REQUIRE(tensor["values"].size() == numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      CHECK(tensor["values"][i].get<double>() == doctest::Approx(numbers[i]).epsilon(1e-6));
    }
  };
  std::size_t found = 0;
  for (const Json& node : data["nodes"]) {
    const std::string op = data["ops"].at(node["op"].get<std::size_t>())["name"];
    if (node["label"] == "x") same(node["value"], x), same(node["gradient"], x.grad()), ++found;
    if (node["label"] == "w") same(node["value"], w), same(node["gradient"], w.grad()), ++found;
    if (op == "softmax") same(node["value"], softmax(matmul(x, w), -1)), ++found;
    if (node["kind"] == "op") {
      CHECK(node["differences"].size() > 0);
      for (const Json& difference : node["differences"]) CHECK(difference[4] == 1);
    }
  }
  CHECK(found == 3);
  const std::vector<double> gradient = numbers_of(w.grad());
  double squares = 0;
  for (const double value : gradient) squares += value * value;
  const Json& layers = data["graphs"][0]["layers"];
  REQUIRE(layers.size() == 2);
  CHECK(layers[1][0] == "w");
  CHECK(layers[1][1].get<double>() == doctest::Approx(std::sqrt(squares)).epsilon(1e-6));
}

TEST_CASE("walk page: uses of a value are told one by one") {
  const Json data = walk_json(walk_of([](const Tensor& w) { return sum(w * w + w); }), 512);
  std::vector<std::string> uses;
  for (const Json& step : data["steps"]) {
    if (!step.contains("uses")) continue;
    for (const Json& use : step["uses"]) {
      if (data["nodes"].at(use["node"].get<std::size_t>())["label"] != "w") continue;
      CHECK((use["before"] == -1) == (use["use"] == 1));
      uses.push_back(use["use"].dump() + "/" + use["uses"].dump());
    }
  }
  CHECK(uses == std::vector<std::string>{"1/3", "2/3", "3/3"});
}

TEST_CASE("walk page: a large tensor is statistics and a corner") {
  const auto function = [](const Tensor& w) { return sum(w * full({40, 1, 1}, 2, DType::f64)); };
  const Json data = walk_json(walk_of(function), 100);
  const auto large =
      std::find_if(data["tensors"].begin(), data["tensors"].end(), [](const Json& t) {
        return t["shape"] == Json{40, 3, 3} && t["values"][0] != 1;
      });
  REQUIRE(large != data["tensors"].end());
  CHECK((*large)["corner"] == Json{3, 3});
  CHECK((*large)["values"].size() == 9);
  CHECK((*large)["statistics"].size() == 4);
  CHECK((*large)["statistics"][3] == 0);
  for (const Json& tensor : data["tensors"]) {
    CHECK(tensor.contains("corner") == (tensor["shape"] == Json{40, 3, 3}));
  }
}

TEST_CASE("walk page: NaN and infinities are words") {
  const auto function = [](const Tensor& w) {
    return sum(concat({log(w * 0.0), sqrt(w * 0.0 - 1.0)}, 0));
  };
  const Json data = walk_json(walk_of(function), 100);
  const std::string text = data.dump();
  CHECK(text.find("\"-inf\"") != std::string::npos);
  CHECK(text.find("\"nan\"") != std::string::npos);
  CHECK(text.find("null") == std::string::npos);
}

TEST_CASE("drawing: modules are boxes, and have a drawing of their own") {
  const Walk walk = walk_of([](const Tensor& w) { return sum(layer(w, w, "Layer")); });
  const std::vector<Drawing> drawings = drawings_of(walk);
  REQUIRE(drawings.size() == 2);
  CHECK(titles(drawings[0]) == std::vector<std::string>{"Layer", "sum"});
  CHECK(has(drawings[0], "Layer", "sum"));
  CHECK(titles(drawings[1]) == std::vector<std::string>{"w", "matmul", "tanh", "add", "%4"});
  CHECK(drawings[1].items.back().kind == Kind::to);
  CHECK(has(drawings[1], "w", "add"));
  CHECK(has(drawings[1], "add", "%4"));
}

TEST_CASE("drawing: repeats in a chain are one box, whatever their number") {
  const Walk walk = walk_of([](const Tensor& w) {
    return sum(layer(layer(layer(w, w, "Layer 1"), w, "Layer 2"), w, "Layer 3"));
  });
  const std::vector<Drawing> drawings = drawings_of(walk);
  REQUIRE(drawings.size() == 4);
  CHECK(titles(drawings[0]) == std::vector<std::string>{"w", "Layer \u00d7 3", "sum"});
  CHECK(drawings[0].items[1].scopes.size() == 3);
  CHECK(drawings[0].items[1].detail == "one after the other");
  CHECK(drawings[0].edges.size() == 2);
}

TEST_CASE("drawing: repeats side by side are one box when they give to the same") {
  const auto heads = [](bool apart) {
    return [apart](const Tensor& w) {
      const Tensor a = layer(w, w, "Head"), b = layer(w, w, "Head");
      return apart ? sum(exp(a) + b) : sum(concat({a, b}, 0));
    };
  };
  CHECK(titles(drawings_of(walk_of(heads(false)))[0]) ==
        std::vector<std::string>{"w", "Head \u00d7 2", "concat", "sum"});
  CHECK(titles(drawings_of(walk_of(heads(true)))[0]) ==
        std::vector<std::string>{"w", "Head", "Head", "exp", "add", "sum"});
}

TEST_CASE("drawing: what differs, or is interrupted by an op, is not folded") {
  const std::vector<std::string> apart = {"w", "Layer", "Layer", "sum"};
  CHECK(titles(drawings_of(walk_of([](const Tensor& w) {
          const Tensor y = layer(w, w, "Layer");
          return sum(layer(concat({y, y}, 0), w, "Layer"));
        }))[0]) == std::vector<std::string>{"w", "Layer", "concat", "Layer", "sum"});
  CHECK(titles(drawings_of(walk_of([](const Tensor& w) {
          const Tensor y = layer(w, w, "Layer");
          return sum(layer(y + relu(y), w, "Layer"));
        }))[0]) == std::vector<std::string>{"w", "Layer", "relu", "add", "Layer", "sum"});
}

TEST_CASE("drawing: what the names of all leaves begin with is left out") {
  const auto names = [](const std::string& a, const std::string& b) {
    Lesson lesson("test", 1);
    const Tensor u = random({2}, lesson), v = random({2}, lesson);
    lesson.walk("f", {{a, u}, {b, v}}, [&] { return sum(u * v); });
    std::vector<std::string> found = titles(drawings_of(lesson.result())[0]);
    found.resize(2);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names("layers.1.norm.weight", "layers.1.norm.bias") == Names{"weight", "bias"});
  CHECK(names("layers.1.norm.weight", "layers.12.norm.bias") ==
        Names{"1.norm.weight", "12.norm.bias"});
  CHECK(names("a.weight", "b.weight") == Names{"a.weight", "b.weight"});
  CHECK(names("a.weight", "b") == Names{"a.weight", "b"});
}

TEST_CASE("drawing: a leaf of very many users has a box beside each") {
  const auto boxes = [](int users) {
    const Walk walk = walk_of([users](const Tensor& w) {
      Tensor y = sum(w);
      for (int i = 1; i < users; ++i) y = y + sum(w);
      return y;
    });
    const std::vector<std::string> found = titles(drawings_of(walk)[0]);
    return std::count(found.begin(), found.end(), "w");
  };
  CHECK(boxes(6) == 1);
  CHECK(boxes(7) == 7);
}

TEST_CASE("layout: every box and line has its place, equal drawings the same") {
  const Walk walk = walk_of([](const Tensor& w) {
    Tensor y = w;
    for (int k = 0; k < 5; ++k) y = layer(y, w, "Layer");
    return sum(y);
  });
  const std::vector<Drawing> drawings = drawings_of(walk);
  const std::optional<Layout> layout = lay_out(drawings);
  if (!layout) {
    MESSAGE("no Graphviz here");
    return;
  }
  REQUIRE(layout->of.size() == drawings.size());
  CHECK(layout->of[4] == layout->of[5]);  // the first has w twice
  for (std::size_t i = 0; i < drawings.size(); ++i) {
    const Geometry& geometry = layout->geometries.at(layout->of[i]);
    REQUIRE(geometry.boxes.size() == drawings[i].items.size());
    REQUIRE(geometry.lines.size() == drawings[i].edges.size());
    for (const Geometry::Box& box : geometry.boxes) {
      CHECK(box.width > 0);
      CHECK(box.x - box.width / 2 >= -0.1);
      CHECK(box.x + box.width / 2 <= geometry.width + 0.1);
      CHECK(box.y + box.height / 2 <= geometry.height + 0.1);
    }
    for (std::size_t k = 0; k < geometry.lines.size(); ++k) {
      const std::vector<double>& line = geometry.lines[k];
      REQUIRE(line.size() >= 8);
      CHECK(line.size() % 2 == 0);
      // Forward is downward.
      CHECK(line[1] < line.back());
      CHECK(geometry.boxes[drawings[i].edges[k].first].y <
            geometry.boxes[drawings[i].edges[k].second].y);
    }
  }
}

TEST_CASE("walk page: without dot, or with one that fails, the page has the list") {
  const test::TemporaryDirectory directory;
  const Walk walk = walk_of([](const Tensor& w) { return sum(layer(w, w, "Layer")); });
  {
    const Path empty(directory / "");
    write_walk_page(directory / "page.html", walk);
  }
  const Json data = data_of(directory / "page.html");
  CHECK(data["geometries"].empty());
  CHECK(data["drawings"].size() == 2);
  CHECK_FALSE(data["drawings"][0].contains("geometry"));
}

TEST_CASE("walk page: below two megabytes, however much there is") {
  Walk walk;
  Rng rng(1);
  walk.graphs.push_back({"f", 0, 400, 399, ""});
  for (std::size_t i = 0; i < 400; ++i) {
    WalkNode node;
    node.kind = i == 0 ? WalkNode::Kind::leaf : WalkNode::Kind::op;
    node.op = i == 0 ? "leaf" : "op";
    if (i > 0) node.inputs = {i - 1};
    node.value = randn({20, 20}, rng);
    node.gradient = randn({20, 20}, rng);
    walk.nodes.push_back(node);
  }
  for (std::size_t i = 1; i < 800; ++i) {
    WalkStep step;
    step.kind = i < 400 ? WalkStep::Kind::forward : WalkStep::Kind::backward;
    step.graph = 0;
    step.node = i < 400 ? i : 800 - i;
    if (i >= 400) {
      const Tensor added = randn({20, 20}, rng);
      step.uses.push_back({0, step.node - 1, 1, 1, Tensor(), added, added});
    }
    walk.steps.push_back(step);
  }
  const test::TemporaryDirectory directory;
  write_walk_page(directory / "page.html", walk);
  CHECK(test::read_bytes(directory / "page.html").size() < 2'000'000);
  CHECK(data_of(directory / "page.html")["steps"].size() == 799);
}

TEST_CASE("walk page: a page that cannot be written is an error naming it") {
  const test::TemporaryDirectory directory;
  CHECK_THROWS_WITH_AS(
      write_walk_page(directory / "no/page.html", walk_of([](const Tensor& w) { return sum(w); })),
      doctest::Contains("no/page.html"), Error);
}
