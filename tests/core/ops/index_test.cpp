// Picking and adding by index: repeated and padding ids, bounds, bits that do not depend on
// threads, second derivatives.
#include "core/ops/index.h"

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/gradcheck.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/threads.h"

using namespace gradzoo;

namespace {

Tensor ids(const Nested& values) { return tensor(values, DType::i64); }

Tensor leaf(const Tensor& x) { return Tensor(x).requires_grad_(); }

std::vector<double> values(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("embedding: ids of any shape, a row for each") {
  const Tensor table = reshape(arange(6), {3, 2});
  CHECK(embedding(table, ids(2)).shape() == Shape{2});
  CHECK(values(embedding(table, ids({{2, 0}, {1, 2}}))) == Numbers{4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(embedding(table, ids({{2, 0}, {1, 2}})).shape() == Shape{2, 2, 2});
  CHECK(values(embedding(transpose(reshape(arange(6), {2, 3})), ids({2}))) == Numbers{2, 5});
}

TEST_CASE("embedding: a repeated id adds up, exactly") {
  const Tensor table = leaf(zeros({3, 2}, DType::f64));
  embedding(table, ids({1, 2, 1, 1}))
      .backward(tensor({{1, 2}, {10, 20}, {100, 200}, {1000, 2000}}, DType::f64));
  CHECK(values(table.grad()) == Numbers{0, 0, 1101, 2202, 10, 20});
}

TEST_CASE("IDX2: the row padding_idx gets no gradient, also in the second derivative") {
  const Tensor table = leaf(zeros({5, 3}));
  sum(embedding(table, ids({0, 1, 1, 2}), 0)).backward();
  CHECK(values(table.grad()) == Numbers{0, 0, 0, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  // It is read like any other row.
  CHECK(values(embedding(reshape(arange(4), {2, 2}), ids({1}), 1)) == Numbers{2, 3});
  // grad of sum(e^3): 3 e^2 in rows 1 and 2, whose own gradient is 6 e there.
  const Tensor rows = leaf(reshape(arange(1, 7, 1, DType::f64), {3, 2}));
  const Tensor e = embedding(rows, ids({0, 2, 2}), 0);
  const auto first = grad({sum(e * e * e)}, {rows}, {.create_graph = true});
  CHECK(values(first[0]) == Numbers{0, 0, 0, 0, 150, 216});
  const auto second = grad({sum(first[0])}, {rows});
  CHECK(values(second[0]) == Numbers{0, 0, 0, 0, 60, 72});
}

TEST_CASE("IDX1: gather adds the gradients of an index that is there twice") {
  const Tensor x = leaf(tensor({0.1}, DType::f64));
  gather(x, 0, ids({0, 0})).backward(tensor({0.2, 0.3}, DType::f64));
  CHECK(x.grad().item() == doctest::Approx(0.5).epsilon(1e-15));
}

TEST_CASE("IDX4: index_select of duplicates keeps every copy's gradient") {
  for (const std::int64_t copy : {0, 1}) {
    const Tensor y = leaf(ones({1}));
    select(index_select(y, 0, ids({0, 0})), 0, copy).backward();
    CHECK(y.grad().item() == 1);
  }
}

TEST_CASE("IDX6: indices out of bounds are an error naming the index and the extent") {
  const Tensor table = zeros({5, 2});
  CHECK_THROWS_WITH_AS(embedding(table, ids({0, 5})),
                       "embedding: index 5 is out of range for 5 rows", Error);
  CHECK_THROWS_WITH_AS(embedding(table, ids({-1})),
                       "embedding: index -1 is out of range for 5 rows", Error);
  CHECK_THROWS_WITH_AS(index_select(table, 1, ids({0, 2})),
                       "index_select: index 2 is out of range for 2 rows", Error);
  CHECK_THROWS_WITH_AS(index_select(table, 1, ids({-3})),
                       "index_select: index -3 is out of range for 2 rows", Error);
  CHECK_THROWS_WITH_AS(gather(table, 0, ids({{5, 0}})),
                       "gather: index 5 is out of range for 5 rows", Error);
  CHECK_THROWS_AS(gather(table, 0, ids({{0, -6}})), Error);
  CHECK_THROWS_WITH_AS(scatter_add(table, 1, ids({{2}}), ones({1, 1})),
                       "scatter_add: index 2 is out of range for 2 rows", Error);
  CHECK_THROWS_AS(scatter_add(table, 1, ids({{-3}}), ones({1, 1})), Error);
  CHECK_THROWS_AS(embedding(table, full({1}, -0x1p63, DType::i64)), Error);
  CHECK_THROWS_AS(embedding(zeros({0, 2}), ids({0})), Error);
}

TEST_CASE("index ops: what is wrong is named") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(embedding(x, ones({1})), "embedding: the indices must be i64, got f32",
                       Error);
  CHECK_THROWS_WITH_AS(embedding(zeros({3}), ids({0})),
                       "embedding: the weight must be [num, dim], its shape is [3]", Error);
  CHECK_THROWS_WITH_AS(embedding(x, ids({0}), 2),
                       "embedding: padding_idx 2 is out of range for 2 rows", Error);
  CHECK_THROWS_WITH_AS(index_select(x, 0, ids({{0}})),
                       "index_select: the index must have one axis, its shape is [1, 1]", Error);
  CHECK_THROWS_WITH_AS(gather(x, 0, ids({0})),
                       "gather: the index of shape [1] must have as many axes as shape [2, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(gather(x, 0, ids({{0, 0, 0, 0}})),
                       "gather: the index of shape [1, 4] is larger than shape [2, 3] on axis 1",
                       Error);
  CHECK_THROWS_WITH_AS(scatter_add(x, 0, ids({{0, 0}}), ones({1, 3})),
                       "scatter_add: src must be f32 [1, 2] like x and the index, got f32 [1, 3]",
                       Error);
  CHECK_THROWS_AS(scatter_add(x, 0, ids({{0}}), ones({1, 1}, DType::f64)), Error);
}

TEST_CASE("gather and index_select: booleans and integers, larger index along the axis") {
  const Tensor x = tensor({{1, 0, 1}}, DType::boolean);
  CHECK(gather(x, 1, ids({{2, 1, 1, 0, -1}})).to_vector<bool>() ==
        std::vector<bool>{true, false, false, true, true});
  CHECK(values(index_select(tensor({{1, 2}, {3, 4}}, DType::i64), 0, ids({1}))) == Numbers{3, 4});
  CHECK(values(scatter_add(zeros({2}, DType::i64), 0, ids({1, 1, 0}), ids({5, 6, 7}))) ==
        Numbers{7, 11});
}

TEST_CASE("scatter_add leaves its input alone") {
  const Tensor x = zeros({3});
  CHECK(values(scatter_add(x, 0, ids({1, 1}), tensor({2, 3}))) == Numbers{0, 5, 0});
  CHECK(values(x) == Numbers{0, 0, 0});
}

TEST_CASE("an index that is overwritten before backward is refused") {
  const Tensor table = leaf(ones({3, 2}));
  const Tensor index = ids({0, 1});
  const Tensor y = embedding(table, index);
  assign(index, ids({2, 2}));
  CHECK_THROWS_AS(sum(y).backward(), Error);
}

TEST_CASE("embedding and scatter_add: the same bits for any number of threads, in order of ids") {
  Rng rng(3);
  const Tensor index = randint(0, 50, {3000}, rng);
  const Tensor upstream = randn({3000, 17}, rng);
  const int before = num_threads();
  // The sum of each row in order of the ids, in f32.
  std::vector<float> wanted(50 * 17, 0);
  for (std::int64_t i = 0; i < 3000; ++i) {
    for (std::int64_t j = 0; j < 17; ++j) {
      wanted[static_cast<std::size_t>(index.data<std::int64_t>()[i] * 17 + j)] +=
          upstream.data<float>()[i * 17 + j];
    }
  }
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const Tensor table = leaf(zeros({50, 17}));
    embedding(table, index).backward(upstream);
    CHECK(table.grad().to_vector<float>() == wanted);
    const Tensor wide = expand(unsqueeze(index, 1), {3000, 17});
    CHECK(scatter_add(zeros({50, 17}), 0, wide, upstream).to_vector<float>() == wanted);
  }
  set_num_threads(before);
}

TEST_CASE("embedding: many rows and large ones, against gather") {
  Rng rng(4);
  const Tensor table = randn({300, 130}, rng), index = randint(0, 300, {40, 20}, rng);
  const Tensor wide = expand(reshape(index, {800, 1}), {800, 130});
  CHECK(values(reshape(embedding(table, index), {800, 130})) == values(gather(table, 0, wide)));
  CHECK(values(index_select(transpose(table), 1, reshape(index, {800}))) ==
        values(transpose(gather(table, 0, wide))));
}
