// Tensor: looking inside, leaves and their gradients, assign.
#include "core/tensor.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/node.h"
#include "core/ops.h"

using namespace gradzoo;

TEST_CASE("Tensor: an undefined one stands for none, and says so when it is used") {
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  const char* message = "tensor: an undefined tensor was used";
  CHECK_THROWS_WITH_AS(none.shape(), message, Error);
  CHECK_THROWS_WITH_AS(none.item(), message, Error);
  CHECK_THROWS_WITH_AS(none.backward(),
                       "backward: the tensor does not depend on anything that "
                       "requires a gradient",
                       Error);
  CHECK_THROWS_WITH_AS(none.to_vector<float>(), message, Error);
  CHECK_THROWS_WITH_AS(none + none, message, Error);
  CHECK_THROWS_WITH_AS(reshape(none, {1}), message, Error);
  CHECK_THROWS_WITH_AS(concat({ones({1}), none}), message, Error);
  CHECK_THROWS_WITH_AS(assign(none, ones({1})), message, Error);
  CHECK_THROWS_WITH_AS(assign(ones({1}), none), message, Error);
}

TEST_CASE("Tensor: item, at and to_vector read any dtype and any strides") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, DType::i64);
  const Tensor t = transpose(x);
  CHECK(t.at({2, 1}) == 6);
  CHECK(t.at({0, 1}) == 4);
  CHECK(t.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 4, 2, 5, 3, 6});
  CHECK(slice(t, 0, 1, 3).to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 5, 3, 6});
  CHECK(scalar(2.5).item() == 2.5);
  CHECK(scalar(1, DType::boolean).item() == 1);
  CHECK(select(select(t, 0, 1), 0, -1).item() == 5);
  CHECK(ones({1, 1}, DType::f64).item() == 1);
  CHECK(tensor({1, 0}, DType::boolean).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(zeros({0}).to_vector<float>().empty());
}

TEST_CASE("Tensor: what does not fit is named") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH_AS(x.item(), "item: the tensor must have one element, its shape is [2, 3]",
                       Error);
  CHECK_THROWS_AS(zeros({0}).item(), Error);
  CHECK_THROWS_WITH_AS(x.at({0}), "at: the index [0] must have one number for each axis of [2, 3]",
                       Error);
  CHECK_THROWS_WITH_AS(x.at({0, 3}), "at: the index [0, 3] is outside shape [2, 3]", Error);
  CHECK_THROWS_AS(x.at({-1, 0}), Error);
  CHECK_THROWS_WITH_AS(x.data<double>(), "data: the tensor is f32, not f64", Error);
  CHECK_THROWS_WITH_AS(x.to_vector<std::int64_t>(), "data: the tensor is f32, not i64", Error);
  CHECK(x.size(-1) == 3);
  CHECK_THROWS_WITH_AS(x.size(2), "size: axis 2 is out of range for a tensor with 2 axes", Error);
}

TEST_CASE("is_contiguous: by strides, extents of 1 and empty tensors do not matter") {
  const Tensor x = zeros({2, 3, 4});
  CHECK(x.is_contiguous());
  CHECK_FALSE(transpose(x).is_contiguous());
  CHECK_FALSE(slice(x, 1, 0, 2).is_contiguous());
  CHECK(slice(x, 0, 1, 2).is_contiguous());
  CHECK(transpose(slice(x, 1, 0, 1), 0, 1).is_contiguous() == false);
  CHECK(transpose(zeros({1, 4})).is_contiguous());
  CHECK(transpose(zeros({0, 4})).is_contiguous());
  CHECK_FALSE(expand(zeros({1, 3}), {2, 3}).is_contiguous());
  CHECK(expand(zeros({1, 3}), {1, 3}).is_contiguous());
  CHECK(zeros({}).is_contiguous());
}

TEST_CASE("requires_grad_: leaves only, floats only") {
  Tensor x = ones({2});
  CHECK(x.is_leaf());
  CHECK_FALSE(x.requires_grad());
  CHECK(&x.requires_grad_() == &x);
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
  const auto node = x.node();
  x.requires_grad_();
  CHECK(x.node() == node);  // asking again changes nothing
  Tensor y = x * 2.0;
  CHECK_FALSE(y.is_leaf());
  CHECK_THROWS_WITH_AS(y.requires_grad_(),
                       "requires_grad_: the tensor is the output of 'mul', not a leaf", Error);
  x.requires_grad_(false);
  CHECK_FALSE(x.requires_grad());
  Tensor ids = ones({2}, DType::i64);
  CHECK_THROWS_WITH_AS(ids.requires_grad_(),
                       "requires_grad_: only f32 and f64 can have gradients, not i64", Error);
}

TEST_CASE("grad: undefined at first, added to by backward, replaced by set_grad") {
  Tensor x = ones({2});
  x.requires_grad_();
  CHECK_FALSE(x.grad().defined());
  sum(x * 3.0).backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{3, 3});
  sum(x * 3.0).backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{6, 6});
  CHECK_FALSE(x.grad().requires_grad());
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
  x.set_grad(tensor({7, 8}));
  CHECK(x.grad().to_vector<float>() == std::vector<float>{7, 8});
  CHECK_THROWS_WITH_AS(x.set_grad(zeros({3})),
                       "set_grad: the gradient is f32 [3], the tensor f32 [2]", Error);
  CHECK_THROWS_AS(x.set_grad(zeros({2}, DType::f64)), Error);
  Tensor plain = ones({2});
  plain.zero_grad();  // nothing to do
  CHECK_THROWS_WITH_AS(plain.set_grad(zeros({2})),
                       "set_grad: only a leaf that requires a gradient can be given one", Error);
  CHECK_FALSE((x * 2.0).grad().defined());
}

TEST_CASE("detach: the same memory without the history") {
  Tensor x = ones({2});
  x.requires_grad_();
  const Tensor y = (x * 2.0).detach();
  CHECK(y.is_leaf());
  CHECK_FALSE(y.requires_grad());
  assign(x.detach(), tensor({5, 6}));
  CHECK(x.at({1}) == 6);
}

TEST_CASE("assign: overwrites a leaf of any strides, and nothing else") {
  const Tensor x = tensor({{1, 2}, {3, 4}, {5, 6}});
  assign(slice(x, 0, 1, 2), tensor({{30, 40}}));
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 30, 40, 5, 6});
  assign(transpose(x), transpose(zeros({3, 2})));
  CHECK(x.to_vector<float>() == std::vector<float>{0, 0, 0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(assign(x, zeros({2, 3})),
                       "assign: the value is f32 [2, 3], the tensor f32 [3, 2]", Error);
  CHECK_THROWS_AS(assign(x, zeros({3, 2}, DType::f64)), Error);
  Tensor leaf = ones({2});
  leaf.requires_grad_();
  CHECK_THROWS_WITH_AS(assign(leaf * 1.0, zeros({2})),
                       "assign: the tensor is the output of 'mul', only a leaf can be overwritten",
                       Error);
  assign(leaf, full({2}, 4));
  CHECK(leaf.at({0}) == 4);
}

TEST_CASE("VIW1: assigning to an expanded tensor is an error, not one place written many times") {
  const Tensor x = ones({1, 1});
  CHECK_THROWS_WITH_AS(assign(expand(x, {4, 5}), ones({4, 5}) + ones({4, 5})),
                       "assign: the tensor is expanded along axis 0: several elements share one "
                       "place",
                       Error);
  CHECK(x.item() == 1);
  assign(expand(x, {1, 1}), full({1, 1}, 3));  // stretched over nothing
  CHECK(x.item() == 3);
}

TEST_CASE("VIW3: source and destination of assign may overlap") {
  const Tensor a = tensor({10, 11, 12, 13, 14, 13, 12, 11}, DType::f64);
  assign(slice(a, 0, 1), slice(a, 0, 1) / slice(a, 0, 0, -1));
  const double wanted[] = {10, 1.1, 12. / 11, 13. / 12, 14. / 13, 13. / 14, 12. / 13, 11. / 12};
  for (int i = 0; i < 8; ++i) CHECK(a.at({i}) == doctest::Approx(wanted[i]).epsilon(1e-12));
  const Tensor b = tensor({1, 2, 3, 4, 5});
  assign(slice(b, 0, 1), slice(b, 0, 0, -1));
  CHECK(b.to_vector<float>() == std::vector<float>{1, 1, 2, 3, 4});
  const Tensor c = tensor({{1, 2}, {3, 4}});
  assign(c, transpose(c));
  CHECK(c.to_vector<float>() == std::vector<float>{1, 3, 2, 4});
  const Tensor d = tensor({1, 2, 3});
  assign(d, flip(d, {0}));
  CHECK(d.to_vector<float>() == std::vector<float>{3, 2, 1});
  const Tensor e = tensor({1, 2, 3});
  assign(e, expand(slice(e, 0, 2), {3}));
  CHECK(e.to_vector<float>() == std::vector<float>{3, 3, 3});
}

TEST_CASE("INP1: a saved value overwritten through any view is refused, naming the op") {
  Tensor x = tensor({{1, 2}, {3, 4}});
  Tensor w = ones({2, 2});
  w.requires_grad_();
  const auto refused = [&](const Tensor& view) {
    const Tensor y = x * w;
    assign(view, zeros(view.shape()));
    CHECK_THROWS_WITH_AS(sum(y).backward(),
                         fmt::format("backward of 'mul': a value it saved was overwritten after "
                                     "the forward pass (version {}, saved at {})",
                                     x.impl().storage->version(), x.impl().storage->version() - 1)
                             .c_str(),
                         Error);
    CHECK_FALSE(w.grad().defined());
  };
  refused(x);
  refused(x.detach());
  refused(select(x, 0, 1));
  refused(transpose(x));
  refused(slice(reshape(x, {4}), 0, 0, kEnd, 2));
}

TEST_CASE("INP3: assign counts as a change also under NoGrad, and whatever the dtype") {
  Tensor weight = ones({3, 2});
  weight.requires_grad_();
  const Tensor ids = tensor({0, 2}, DType::i64);
  const Tensor y = embedding(weight, ids) * embedding(weight, ids);
  {
    const NoGrad no_grad;
    assign(ids, tensor({1, 1}, DType::i64));
  }
  CHECK_THROWS_AS(sum(y).backward(), Error);
  const Tensor z = square(weight);
  {
    const NoGrad no_grad;
    assign(weight, zeros({3, 2}));
  }
  CHECK_THROWS_AS(sum(z).backward(), Error);
}
