// The recorded graph as a list and as a DOT picture.
#include "core/graph.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>

#include "core/create.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

Tensor leaf(const Nested& numbers) {
  Tensor x = tensor(numbers);
  x.requires_grad_();
  return x;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Runs dot over the text; the SVG, or "" when there is no dot. Fails the test when dot complains.
std::string svg_of(const std::string& dot) {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: dot (graphviz) is not installed");
    return "";
  }
  const TemporaryDirectory directory;
  write_bytes(directory / "g.dot", dot);
  const std::string command = "dot -Tsvg '" + (directory / "g.dot") + "' > '" +
                              (directory / "g.svg") + "' 2> '" + (directory / "errors") + "'";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(read_bytes(directory / "errors") == "");
  return read_bytes(directory / "g.svg");
}

}  // namespace

TEST_CASE("graph: a list of nodes with inputs, shapes, values and gradients of leaves") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = sum(mul(x, x));
  CHECK(graph_list(y) ==
        "%1 = leaf         f32 [3]  = [1, 2, 3]\n"
        "%2 = mul(%1, %1)  f32 [3]\n"
        "%3 = sum(%2)      f32 []   = 14\n");
  y.backward();
  CHECK(graph_list(y, {.names = {{"x", x}}}) ==
        "%1 = leaf x       f32 [3]  = [1, 2, 3]  grad [2, 4, 6]\n"
        "%2 = mul(%1, %1)  f32 [3]\n"
        "%3 = sum(%2)      f32 []   = 14\n");
}

TEST_CASE("graph: scopes, inputs without gradient, and statistics of large values") {
  Tensor x = reshape(arange(20), {4, 5});
  x.requires_grad_();
  const Tensor weight = full({4, 5}, 0.5);
  Tensor y;
  {
    const Scope outer("Model");
    const Scope inner("Layer");
    y = mul(x, weight);
  }
  CHECK(graph_list(y) ==
        "%1 = leaf        f32 [4, 5]  = min 0 mean 9.5 max 19\n"
        "%2 = mul(%1, _)  f32 [4, 5]  in Model/Layer  = min 0 mean 4.75 max 9.5\n");
}

TEST_CASE("graph: with a trace every node has its value and its gradient") {
  const Tensor x = leaf({1, 2});
  const Trace trace;
  const Tensor y = sum(mul(mul(x, x), x));
  y.backward();
  CHECK(graph_list(y, {.trace = &trace}) ==
        "%1 = leaf         f32 [2]  = [1, 2]  grad [3, 12]\n"
        "%2 = mul(%1, %1)  f32 [2]  = [1, 4]  grad [1, 2]\n"
        "%3 = mul(%2, %1)  f32 [2]  = [1, 8]  grad [1, 1]\n"
        "%4 = sum(%3)      f32 []   = 9  grad 1\n");
}

TEST_CASE("graph: the gradient of a leaf in a trace is the sum it now has") {
  const Tensor x = leaf({1});
  mul(x, x).backward();
  const Trace trace;
  const Tensor y = mul(x, x);
  y.backward();
  CHECK(contains(graph_list(y, {.trace = &trace}), "%1 = leaf         f32 [1]  = [1]  grad [4]"));
}

TEST_CASE("graph: a tensor without history is an error") {
  CHECK(message_of([] { graph_list(ones({2})); }) == "graph_list: the tensor has no history");
  CHECK(message_of([] { graph_dot(Tensor()); }) == "graph_dot: the tensor has no history");
}

TEST_CASE("graph: DOT has a node for each node, an edge for each use, a box for each scope") {
  const Tensor x = leaf({1, 2});
  Tensor y = x;
  for (int i = 0; i < 2; ++i) {
    const Scope outer("Block");
    y = mul(y, x);
    const Scope inner("Inner");
    y = add(y, x);
  }
  const std::string dot = graph_dot(sum(y), {.names = {{"weight", x}}});
  CHECK(count_of(dot, "[label=") == 6);
  CHECK(count_of(dot, " -> ") == 9);
  CHECK(contains(dot, "n1 [label=\"weight\\nf32 [2]\\n= [1, 2]\", fillcolor="));
  CHECK(contains(dot, "  n1 -> n2;\n  n1 -> n2;\n"));  // used twice
  CHECK(count_of(dot, "label=\"Block\"") == 2);        // opened twice
  CHECK(count_of(dot, "label=\"Inner\"") == 2);
  CHECK(contains(dot,
                 "  subgraph cluster_1 {\n"
                 "    label=\"Block\";\n"
                 "    subgraph cluster_2 {\n"
                 "      label=\"Inner\";\n"
                 "      n3 "));
  CHECK(count_of(dot, "{") == count_of(dot, "}"));
  const std::string svg = svg_of(dot);
  if (!svg.empty()) {
    CHECK(count_of(svg, "class=\"node\"") == 6);
    CHECK(count_of(svg, "class=\"cluster\"") == 4);
    CHECK(count_of(svg, "class=\"edge\"") == 9);
  }
}

TEST_CASE("graph: names that mean something to DOT come out as they are") {
  const Tensor x = leaf({1});
  const Scope scope("a \"b\" \\N {c|<d>} &lt; \x01\n]; x");
  const Tensor y = mul(x, x);
  const std::string dot = graph_dot(y, {.names = {{"<b>\"w\"\\", x}}});
  CHECK(contains(dot, "label=\"a \\\"b\\\" \\\\N {c|<d>} &amp;lt;  \\n]; x\""));
  CHECK(contains(dot, "[label=\"<b>\\\"w\\\"\\\\\\nf32"));
  const std::string svg = svg_of(dot);
  if (!svg.empty()) {
    CHECK(contains(svg, "a &quot;b&quot; \\N {c|&lt;d&gt;} &amp;lt;"));
    CHECK(contains(svg, "&lt;b&gt;&quot;w&quot;\\<"));
  }
}

TEST_CASE("graph: 100,000 nodes take no more than their share of time") {
  const Tensor x = leaf({1});
  const auto seconds = [&](int count) {
    Tensor y = x;
    for (int i = 0; i < count; ++i) {
      const Scope scope("Step");
      y = add(y, x);
    }
    const auto start = std::chrono::steady_clock::now();
    const std::string list = graph_list(y), dot = graph_dot(y);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    CHECK(count_of(list, "\n") == static_cast<std::size_t>(count) + 1);
    CHECK(count_of(dot, " -> ") == 2 * static_cast<std::size_t>(count));
    return taken.count();
  };
  seconds(1000);
  CHECK(seconds(100000) < 40 * seconds(10000) + 0.5);
}
