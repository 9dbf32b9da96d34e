// concat, stack, pad: dtypes, empty pieces, errors, gradients of some inputs only.
#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

namespace {

std::vector<double> values(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("concat and stack: every dtype, any strides, the same tensor twice") {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
    const Tensor x = to(tensor({{1, 0}, {0, 1}}), dtype),
                 y = transpose(to(tensor({{1, 1}, {0, 0}}), dtype));
    CHECK(concat({x, y}).dtype() == dtype);
    CHECK(values(concat({x, y})) == Numbers{1, 0, 0, 1, 1, 0, 1, 0});
    CHECK(values(concat({x, y}, -1)) == Numbers{1, 0, 1, 0, 0, 1, 1, 0});
    CHECK(values(stack({x, x})) == Numbers{1, 0, 0, 1, 1, 0, 0, 1});
    CHECK(values(stack({x, y}, 2)) == Numbers{1, 1, 0, 0, 0, 1, 1, 0});
  }
  CHECK(stack({scalar(1), scalar(2)}).shape() == Shape{2});
  CHECK(concat({zeros({2, 0}), ones({2, 1})}, 1).shape() == Shape{2, 1});
}

TEST_CASE("concat and stack: what is wrong is named") {
  CHECK_THROWS_WITH_AS(concat({}), "concat: there must be at least one tensor", Error);
  CHECK_THROWS_WITH_AS(stack({}), "stack: there must be at least one tensor", Error);
  CHECK_THROWS_WITH_AS(concat({zeros({2, 3}), zeros({3, 2})}, 1),
                       "concat: shapes [2, 3] and [3, 2] differ in more than axis 1", Error);
  CHECK_THROWS_WITH_AS(concat({zeros({2, 3}), zeros({2})}),
                       "concat: shapes [2, 3] and [2] differ in their number of axes", Error);
  CHECK_THROWS_WITH_AS(concat({zeros({2}), zeros({2}, DType::f64)}),
                       "concat: the dtypes must be equal, got f32 and f64", Error);
  CHECK_THROWS_WITH_AS(concat({zeros({}), zeros({})}),
                       "concat: axis 0 is out of range for a tensor with 0 axes", Error);
  CHECK_THROWS_WITH_AS(stack({zeros({2}), zeros({3})}),
                       "stack: the shapes must be equal, got [2] and [3]", Error);
  CHECK_THROWS_AS(stack({zeros({2})}, 2), Error);
}

TEST_CASE("concat: each input that wants a gradient gets its part, a repeated one the sum") {
  Tensor x = zeros({2}, DType::f64);
  x.requires_grad_();
  const Tensor constant = ones({3}, DType::f64);
  concat({x, constant, x}).backward(tensor({1, 2, 3, 4, 5, 6, 7}, DType::f64));
  CHECK(values(x.grad()) == Numbers{7, 9});
  x.zero_grad();
  stack({x, slice(constant, 0, 0, 2), x}, 1).backward(tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64));
  CHECK(values(x.grad()) == Numbers{4, 10});
}

TEST_CASE("pad: fewer pairs than axes mean the last axes; the value must fit the dtype") {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  CHECK(values(pad(x, {{1, 0}})) == Numbers{0, 1, 2, 0, 3, 4});
  CHECK(values(pad(x, {{0, 1}, {0, 0}}, 9)) == Numbers{1, 2, 3, 4, 9, 9});
  CHECK(values(pad(x, {})) == values(x));
  CHECK(pad(zeros({0}), {{2, 1}}, 5).to_vector<float>() == std::vector<float>{5, 5, 5});
  CHECK(values(pad(ones({1}, DType::boolean), {{1, 1}})) == Numbers{0, 1, 0});
  CHECK_THROWS_AS(pad(ones({1}, DType::i64), {{1, 1}}, 0.5), Error);
  CHECK_THROWS_WITH_AS(pad(x, {{0, -1}}), "pad: widths must not be negative, got 0 and -1", Error);
  CHECK_THROWS_WITH_AS(pad(x, {{0, 0}, {0, 0}, {0, 0}}),
                       "pad: 3 pairs of widths are too many for shape [2, 2]", Error);
}
