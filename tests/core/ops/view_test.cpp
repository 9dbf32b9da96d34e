// Views: which are free, how -1 is worked out, gradients to the second order, errors.
#include "core/ops/view.h"

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/gradcheck.h"
#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

namespace {

bool shares_memory(const Tensor& a, const Tensor& b) {
  return a.impl().storage == b.impl().storage;
}

std::vector<double> values(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

Tensor leaf(const Shape& shape) {
  Rng rng(7);
  Tensor x = randn(shape, rng, DType::f64);
  return x.requires_grad_();
}

}  // namespace

TEST_CASE("reshape: a view wherever strides can say it, a copy elsewhere, the same values always") {
  const Tensor x = reshape(arange(24), {2, 3, 4});
  const Tensor turned = permute(x, {2, 0, 1});
  struct Case {
    Tensor from;
    Shape to;
    bool view;
  };
  const Case cases[] = {
      {x, {24}, true},
      {x, {4, 3, 2}, true},
      {x, {1, 2, 1, 12, 1}, true},
      {turned, {4, 6}, true},           // the two axes behind lie in one row
      {turned, {2, 2, 2, 1, 3}, true},  // one axis cut in two
      {turned, {24}, false},
      {turned, {8, 3}, false},
      {transpose(x), {2, 12}, false},
      {transpose(x), {2, 4, 3, 1}, true},
      {slice(x, 2, 0, 2), {6, 2}, true},
      {slice(x, 2, 0, 2), {12}, false},
      {slice(x, 1, 0, 2), {2, 8}, true},
      {slice(x, 2, 0, kEnd, 2), {12}, true},  // even steps throughout
      {expand(reshape(arange(3), {3, 1}), {3, 4}), {3, 2, 2}, true},
      {expand(reshape(arange(3), {3, 1}), {3, 4}), {12}, false},
      {expand(scalar(5), {2, 3}), {6}, true},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.from.shape()), " to ", to_string(c.to));
    const Tensor y = reshape(c.from, c.to);
    CHECK(y.shape() == c.to);
    CHECK(shares_memory(y, c.from) == c.view);
    CHECK(values(y) == values(c.from));
  }
}

TEST_CASE("reshape: one element, scalars and empty tensors") {
  CHECK(reshape(ones({1, 1}), {}).shape() == Shape{});
  CHECK(reshape(scalar(3), {1, 1, 1}).item() == 3);
  CHECK(reshape(transpose(zeros({0, 3})), {0, 7, 2}).shape() == Shape{0, 7, 2});
  CHECK(reshape(scalar(3), {-1}).shape() == Shape{1});
}

TEST_CASE("EMP5: -1 is worked out from a product that is not 0, and refused where it is") {
  CHECK(reshape(zeros({6}), {2, -1}).shape() == Shape{2, 3});
  CHECK(reshape(zeros({3, 0}), {3, -1}).shape() == Shape{3, 0});
  CHECK(reshape(zeros({0, 4}), {-1, 2}).shape() == Shape{0, 2});
  CHECK(reshape(zeros({3, 0, 0}), {3, 0, 0}).shape() == Shape{3, 0, 0});
  CHECK(matmul(zeros({3, 0, 0}), zeros({0, 0})).shape() == Shape{3, 0, 0});
  CHECK_THROWS_WITH_AS(reshape(zeros({3, 0}), {0, -1}),
                       "reshape: the -1 in [0, -1] could be anything beside a 0", Error);
  CHECK_THROWS_WITH_AS(reshape(zeros({6}), {-1, -1}),
                       "reshape: only one extent may be -1, got [-1, -1]", Error);
  CHECK_THROWS_WITH_AS(reshape(zeros({6}), {4, -1}),
                       "reshape: 6 elements of shape [6] do not fit into [4, -1]", Error);
  CHECK_THROWS_WITH_AS(reshape(zeros({6}), {5}),
                       "reshape: 6 elements of shape [6] do not fit into [5]", Error);
  CHECK_THROWS_AS(reshape(zeros({6}), {-2, -3}), Error);
}

TEST_CASE("permute, transpose, squeeze, unsqueeze, expand are views") {
  const Tensor x = reshape(arange(6), {2, 1, 3});
  for (const Tensor& y : {permute(x, {2, 0, 1}), transpose(x), squeeze(x), squeeze(x, 1),
                          unsqueeze(x, 0), expand(x, {2, 5, 3})}) {
    CHECK(shares_memory(x, y));
  }
  CHECK(permute(x, {2, 0, 1}).shape() == Shape{3, 2, 1});
  CHECK(values(transpose(squeeze(x))) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(transpose(x, 0, 0).shape() == x.shape());
  CHECK(squeeze(zeros({1, 1})).shape() == Shape{});
  CHECK(unsqueeze(x, -1).shape() == Shape{2, 1, 3, 1});
  CHECK(unsqueeze(x, -4).shape() == Shape{1, 2, 1, 3});
  CHECK(unsqueeze(scalar(1), 0).shape() == Shape{1});
  CHECK(permute(scalar(1), {}).shape() == Shape{});
}

TEST_CASE("expand: stretches extents of 1 and adds axes in front, nothing else") {
  const Tensor x = tensor({{1}, {2}});
  CHECK(values(expand(x, {2, 3})) == std::vector<double>{1, 1, 1, 2, 2, 2});
  CHECK(values(expand(x, {2, -1, 2})) == std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(expand(x, {2, 0}).shape() == Shape{2, 0});
  CHECK_THROWS_WITH_AS(expand(x, {3, 2}),
                       "expand: shapes [2, 1] and [3, 2] cannot be broadcast "
                       "together",
                       Error);
  CHECK_THROWS_WITH_AS(expand(zeros({3}), {1}),
                       "expand: a tensor of shape [3] cannot be stretched to [1]", Error);
  CHECK_THROWS_WITH_AS(expand(x, {2}), "expand: [2] has fewer axes than the tensor's shape [2, 1]",
                       Error);
  CHECK_THROWS_AS(expand(x, {-1, 2, 3}), Error);  // a new axis has no extent to keep
}

TEST_CASE("views: what is wrong is named") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(permute(x, {0}), "permute: [0] must name each axis of shape [2, 3] once",
                       Error);
  CHECK_THROWS_WITH_AS(permute(x, {0, 0}), "permute: axis 0 is given twice", Error);
  CHECK_THROWS_AS(permute(x, {0, 2}), Error);
  CHECK_THROWS_WITH_AS(transpose(zeros({3})),
                       "transpose: axis -2 is out of range for a tensor with 1 axes", Error);
  CHECK_THROWS_WITH_AS(squeeze(x, 0), "squeeze: axis 0 of shape [2, 3] must have extent 1", Error);
  CHECK_THROWS_AS(unsqueeze(x, 4), Error);
}

TEST_CASE("EMP3: a vector unsqueezed against an empty tensor gets a gradient of zeros") {
  Tensor b = leaf({4});
  sum(zeros({4, 0}, DType::f64) + unsqueeze(b, 1)).backward();
  CHECK(values(b.grad()) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("views: a chain of them is differentiable twice") {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor heads = permute(reshape(in[0], {2, 3, 2, 2}), {0, 2, 1, 3});  // copies below
    const Tensor flat = reshape(heads, {2, -1});
    const Tensor wide = expand(unsqueeze(flat, 0), {3, -1, -1});
    return squeeze(slice(transpose(square(wide)), 0, 1, 2));
  };
  CHECK(gradcheck(f, {leaf({2, 3, 4})}));
  CHECK(gradgradcheck(f, {leaf({2, 3, 4})}));
}

TEST_CASE("views: gradients of the views themselves do not copy") {
  Tensor x = leaf({4, 3});
  const Tensor upstream = ones({3, 4}, DType::f64);
  const auto grads = grad({transpose(x)}, {x}, {.grad_outputs = {upstream}});
  CHECK(shares_memory(grads[0], upstream));
}
