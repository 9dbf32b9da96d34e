// Comparisons, logic and selection: dtypes, NaN, strides, and nothing leaking from what was not
// selected.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/autograd.h"
#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

using namespace gradzoo;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using B = std::vector<bool>;
using V = std::vector<double>;

B truth(const Tensor& x) { return x.to_vector<bool>(); }

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return tensor(values, dtype).requires_grad_();
}

// n truth values, of which the period is no vector width.
Tensor pattern(std::int64_t n) {
  std::vector<bool> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(i % 3 == 0 || i % 5 == 1);
  return from_vector(values, {n});
}

}  // namespace

TEST_CASE("compare: all six, for every dtype, against a tensor and a number") {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64}) {
    const Tensor a = tensor({1, 2, 3}, dtype), b = tensor({2, 2, 2}, dtype);
    CHECK(truth(eq(a, b)) == B{false, true, false});
    CHECK(truth(ne(a, b)) == B{true, false, true});
    CHECK(truth(lt(a, b)) == B{true, false, false});
    CHECK(truth(le(a, b)) == B{true, true, false});
    CHECK(truth(gt(a, b)) == B{false, false, true});
    CHECK(truth(ge(a, b)) == B{false, true, true});
    CHECK(truth(eq(a, 2)) == truth(eq(a, b)));
    CHECK(truth(ne(a, 2)) == truth(ne(a, b)));
    CHECK(truth(lt(a, 2)) == truth(lt(a, b)));
    CHECK(truth(le(a, 2)) == truth(le(a, b)));
    CHECK(truth(gt(a, 2)) == truth(gt(a, b)));
    CHECK(truth(ge(a, 2)) == truth(ge(a, b)));
  }
  const Tensor t = tensor({0, 1}, DType::boolean);
  CHECK(truth(eq(t, 1)) == B{false, true});
  CHECK(truth(lt(t, 1)) == B{true, false});
}

TEST_CASE("compare: NaN is unequal to everything and in no order") {
  const Tensor x = tensor({kNaN, 1}), y = tensor({kNaN, kNaN});
  CHECK(truth(eq(x, y)) == B{false, false});
  CHECK(truth(ne(x, y)) == B{true, true});
  CHECK(truth(lt(x, y)) == B{false, false});
  CHECK(truth(le(x, y)) == B{false, false});
  CHECK(truth(gt(x, y)) == B{false, false});
  CHECK(truth(ge(x, y)) == B{false, false});
}

TEST_CASE("compare: broadcasting, empty tensors and errors") {
  const Tensor y = lt(tensor({{1}, {3}}), tensor({2, 4}));
  CHECK(y.shape() == Shape{2, 2});
  CHECK(truth(y) == B{true, true, false, true});
  CHECK(eq(zeros({0, 3}), zeros({3})).shape() == Shape{0, 3});
  CHECK_THROWS_WITH_AS(gt(zeros({1}), zeros({1}, DType::i64)),
                       "gt: the dtypes must be equal, got f32 and i64", Error);
  CHECK_THROWS_WITH_AS(eq(zeros({1}, DType::boolean), 0.5),
                       "eq: 0.5 cannot be held by a tensor of boolean", Error);
  CHECK_THROWS_AS(eq(zeros({1}, DType::i64), 0.5), Error);
}

TEST_CASE("compare: logic") {
  const Tensor a = tensor({0, 0, 1, 1}, DType::boolean), b = tensor({0, 1, 0, 1}, DType::boolean);
  CHECK(truth(logical_and(a, b)) == B{false, false, false, true});
  CHECK(truth(logical_or(a, b)) == B{false, true, true, true});
  CHECK(truth(logical_xor(a, b)) == B{false, true, true, false});
  CHECK(truth(logical_not(a)) == B{true, true, false, false});
  CHECK_THROWS_WITH_AS(logical_and(a, zeros({4})), "logical_and: b must be boolean, got f32",
                       Error);
  CHECK_THROWS_AS(logical_not(zeros({4})), Error);
}

TEST_CASE("where and masked_fill: every length around the vector widths") {
  for (std::int64_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 16383, 16385}) {
    const Tensor mask = pattern(n), x = arange(static_cast<double>(n)), y = -x;
    const auto m = truth(mask);
    const auto chosen = where(mask, x, y).to_vector<float>();
    const auto filled = masked_fill(x, mask, -7).to_vector<float>();
    REQUIRE(chosen.size() == static_cast<std::size_t>(n));
    bool right = true;
    for (std::size_t i = 0; i < m.size(); ++i) {
      const float v = static_cast<float>(i);
      right = right && chosen[i] == (m[i] ? v : -v) && filled[i] == (m[i] ? -7 : v);
    }
    CHECK(right);
  }
}

TEST_CASE("where: all three broadcast, and the gradients are summed back") {
  const Tensor condition = tensor({{1}, {0}}, DType::boolean);
  const Tensor a = leaf({10, 20, 30}), b = leaf(5);
  const Tensor y = where(condition, a, b);
  CHECK(y.to_vector<double>() == V{10, 20, 30, 5, 5, 5});
  y.backward(tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64));
  CHECK(a.grad().to_vector<double>() == V{1, 2, 3});
  CHECK(b.grad().item() == 15);
  const Tensor ids = where(condition, tensor({1, 2}, DType::i64), tensor({3, 4}, DType::i64));
  CHECK(ids.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2, 3, 4});
}

TEST_CASE("where, masked_fill: strided operands") {
  const Tensor x = transpose(tensor({{1, 2, 3}, {4, 5, 6}}), 0, 1);
  const Tensor mask = transpose(tensor({{1, 0, 0}, {0, 1, 1}}, DType::boolean), 0, 1);
  CHECK(where(mask, x, -x).to_vector<float>() == std::vector<float>{1, -4, -2, 5, -3, 6});
  CHECK(masked_fill(x, mask, 0).to_vector<float>() == std::vector<float>{0, 4, 2, 0, 3, 0});
}

TEST_CASE("WHR1: infinity of the branch not taken does not leak") {
  const Tensor x = leaf({16, 0});
  const Tensor y = where(eq(x, 0), x / 2, sqrt(x) + 1);
  CHECK(y.to_vector<double>() == V{5, 0});
  sum(y).backward();
  CHECK(x.grad().to_vector<double>() == V{0.125, 0.5});
}

TEST_CASE("WHR3: x sqrt(x) at 0, not taken, gives no NaN") {
  const Tensor x = leaf({0});
  sum(where(eq(x, 0), zeros_like(x), x * sqrt(x))).backward();
  CHECK(x.grad().item() == 0);
}

TEST_CASE("where: NaN and infinity, in values and in upstream gradients, stay on their side") {
  const Tensor a = leaf({kNaN, 1, kInf}), b = leaf({2, kNaN, 3});
  const Tensor y = where(tensor({0, 1, 0}, DType::boolean), a, b);
  CHECK(y.to_vector<double>() == V{2, 1, 3});
  y.backward(tensor({kInf, 7, kInf}, DType::f64));
  CHECK(a.grad().to_vector<double>() == V{0, 7, 0});
  CHECK(b.grad().to_vector<double>() == V{kInf, 0, kInf});
}

TEST_CASE("masked_fill: no gradient flows under the mask, not even from an infinite one") {
  const Tensor x = leaf({{kNaN, 2}, {3, -kInf}});
  const Tensor y = masked_fill(x, tensor({{1, 0}, {0, 1}}, DType::boolean), -kInf);
  CHECK(y.to_vector<double>() == V{-kInf, 2, 3, -kInf});
  y.backward(tensor({{kInf, 5}, {6, kNaN}}, DType::f64));
  CHECK(x.grad().to_vector<double>() == V{0, 5, 6, 0});
}

TEST_CASE("masked_fill: the mask broadcasts to the tensor, not the other way round") {
  const Tensor x = ones({2, 3});
  const Tensor y = masked_fill(x, tensor({{1}, {0}}, DType::boolean), 4);
  CHECK(y.to_vector<float>() == std::vector<float>{4, 4, 4, 1, 1, 1});
  CHECK_THROWS_WITH_AS(masked_fill(zeros({3}), zeros({2, 3}, DType::boolean), 0),
                       "masked_fill: a mask of shape [2, 3] does not fit a tensor of shape [3]",
                       Error);
  CHECK_THROWS_AS(masked_fill(x, x, 0), Error);
  CHECK_THROWS_AS(masked_fill(zeros({1}, DType::i64), ones({1}, DType::boolean), 0.5), Error);
  CHECK_THROWS_WITH_AS(where(x, x, x), "where: the condition must be boolean, got f32", Error);
}
