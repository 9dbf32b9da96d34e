// Which cells of an input a cell of the output was made from.
#include "examples/common/walk/sources.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Cells = std::vector<std::int32_t>;
using PerCell = std::vector<Cells>;

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return tensor(values, dtype).requires_grad_();
}

}  // namespace

TEST_CASE("sources: a product of matrices takes a row and a column, also where a factor is 0") {
  const Tensor a = leaf({{1, 0}, {3, 4}, {5, 6}}), b = leaf({{1, 2}, {0, 4}});
  const Sources sources = sources_of(matmul(a, b).node());
  REQUIRE(sources.size() == 2);
  CHECK(sources[0] == PerCell{{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}});
  CHECK(sources[1] == PerCell{{0, 2}, {1, 3}, {0, 2}, {1, 3}, {0, 2}, {1, 3}});
}

TEST_CASE("sources: broadcast, sums, softmax, views, in f32 too") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}}, dtype), row = leaf({7, 0, 9}, dtype);
    CHECK(sources_of((x + row).node())[1] == PerCell{{0}, {1}, {2}, {0}, {1}, {2}});
    CHECK(sources_of(sum(x, {1}).node())[0] == PerCell{{0, 1, 2}, {3, 4, 5}});
    CHECK(sources_of(softmax(x).node())[0][4] == Cells{3, 4, 5});
    CHECK(sources_of(transpose(x).node())[0] == PerCell{{0}, {3}, {1}, {4}, {2}, {5}});
  }
}

TEST_CASE("sources: where nothing can flow there are none") {
  const Tensor x = leaf({-1, 2});
  CHECK(sources_of(relu(x).node())[0] == PerCell{{}, {1}});
  const Tensor mask = tensor({0, 1}, DType::boolean);
  CHECK(sources_of(masked_fill(x, mask, -1).node())[0] == PerCell{{0}, {}});
}

TEST_CASE("sources: NaN and infinite values do not spread") {
  const Tensor x = leaf({1, HUGE_VAL, -2}), y = leaf({NAN, 1, 1});
  const Sources sources = sources_of((x * y).node());
  CHECK(sources[0][1] == Cells{1});
  CHECK(sources[0][2] == Cells{2});
  CHECK(sources[1][2] == Cells{2});
}

TEST_CASE("sources: none for leaves, large tensors, constants, and ops without gradient") {
  const Tensor x = leaf({1, 2});
  CHECK(sources_of(x.node()).empty());
  Tensor large = zeros({kMostSourceCells + 1}, DType::f64).requires_grad_();
  CHECK(sources_of(exp(large).node()).empty());
  CHECK(sources_of(sum(large).node()).empty());
  const Sources sources = sources_of((x * tensor({3, 4}, DType::f64)).node());
  CHECK(sources[0] == PerCell{{0}, {1}});
  CHECK(sources[1].empty());
  const Tensor y = record(x.detach() + 1, "odd", {x}, {}, no_gradient("odd"));
  CHECK(sources_of(y.node()).empty());
  // Asking leaves the graph as it was.
  const Tensor loss = sum(x * x);
  sources_of(loss.node());
  loss.backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{2, 4});
}
