// Scaled dot-product attention: options and shared heads. Plain loops are in attention_test.cpp.
#include "nn/dot_product.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/scope.h"
#include "nn/mask.h"
#include "tests/nn/layers_test.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

// Each head of keys or values [b, g, t, d] `times` times.
Tensor repeated(const Tensor& x, std::int64_t times) {
  const Tensor wide = expand(unsqueeze(x, 2), {x.size(0), x.size(1), times, x.size(2), x.size(3)});
  return reshape(wide, {x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

}  // namespace

TEST_CASE("keys and values with fewer heads: the same as each of them repeated") {
  const Tensor q = test::input({2, 6, 3, 4}, 1);
  const Tensor mask = causal_mask(3, 5) & padding_mask(tensor({5, 1}, DType::i64), 5);
  for (const std::int64_t heads : {1, 2, 3, 6}) {
    const Tensor k = test::input({2, heads, 5, 4}, 2), v = test::input({2, heads, 5, 2}, 3);
    const Attended got = attend_by_dot_product(q, k, v, mask);
    const Attended want =
        attend_by_dot_product(q, repeated(k, 6 / heads), repeated(v, 6 / heads), mask);
    CHECK(got.weights.shape() == Shape{2, 6, 3, 5});
    CHECK(test::max_difference(got.weights, want.weights) < 1e-12);
    CHECK(test::max_difference(got.context, want.context) < 1e-12);
  }
  CHECK_THROWS_WITH_AS(
      scaled_dot_product_attention(q, ones({2, 4, 5, 4}, DType::f64), ones({2, 4, 5, 4})),
      "attention: the heads of keys and values must divide those of the queries, got 4 and 6",
      Error);
  CHECK(scaled_dot_product_attention(ones({2, 6, 0, 4}), ones({2, 3, 5, 4}), ones({2, 3, 5, 2}))
            .shape() == Shape{2, 6, 0, 2});
}

TEST_CASE("scale and softcap, by hand") {
  const Tensor q = tensor({{1, 2}}, DType::f64), k = tensor({{3, 4}, {-1, 0}}, DType::f64);
  const auto scores = [&](const DotProductOptions& options) {
    return scaled_dot_product_scores(q, k, options).to_vector<double>();
  };
  CHECK(scores({})[0] == doctest::Approx(11 / std::sqrt(2.0)).epsilon(1e-15));
  CHECK(scores({.scale = 0.5}) == std::vector<double>{5.5, -0.5});
  CHECK(scores({.scale = -0.5}) == std::vector<double>{-5.5, 0.5});
  CHECK(scores({.scale = 0.5, .softcap = 2})[0] ==
        doctest::Approx(2 * std::tanh(2.75)).epsilon(1e-15));
}

TEST_CASE("gradients of dot-product attention: shared heads, scale, softcap, of the weights too") {
  const auto f = [](const std::vector<Tensor>& in) {
    const Attended got = attend_by_dot_product(in[0], in[1], in[2], causal_mask(2, 3),
                                               {.scale = 0.7, .softcap = 1.5});
    return concat({got.context, got.weights}, 3);
  };
  const std::vector<Tensor> qkv{test::input({2, 4, 2, 3}, 1), test::input({2, 2, 3, 3}, 2),
                                test::input({2, 2, 3, 1}, 3)};
  const auto first = gradcheck(f, qkv);
  CHECK_MESSAGE(first.ok, first.report);
  const auto second = gradgradcheck(f, qkv);
  CHECK_MESSAGE(second.ok, second.report);
}

TEST_CASE("dropout of the weights: the context in training, not the weights returned") {
  const Tensor q = test::input({1, 1, 4, 3}, 1);
  const Attended plain = attend_by_dot_product(q, q, q, {}, {.dropout = 0.5});
  CHECK(test::max_difference(plain.context, attend_by_dot_product(q, q, q).context) == 0);
  Rng rng(2);
  const TrainingScope training(rng);
  const Attended dropped = attend_by_dot_product(q, q, q, {}, {.dropout = 0.5});
  CHECK(test::max_difference(dropped.weights, plain.weights) == 0);
  CHECK(test::max_difference(dropped.context, plain.context) > 1e-3);
}

TEST_CASE("dot-product attention names shapes that do not fit") {
  CHECK_THROWS_WITH_AS(scaled_dot_product_attention(ones({3, 4}), ones({3, 5}), ones({3, 5})),
                       "scaled_dot_product_attention: q must be [..., queries, d] and k [..., "
                       "keys, d], got [3, 4] and [3, 5]",
                       Error);
  CHECK_THROWS_AS(scaled_dot_product_attention(ones({4}), ones({4}), ones({4})), Error);
  // A batch of 1 is not one for all rows, and what has no heads is not taken for heads.
  const Tensor q = ones({2, 2, 3, 4}), k = ones({2, 2, 5, 4});
  CHECK_THROWS_WITH_AS(scaled_dot_product_attention(q, ones({1, 2, 5, 4}), ones({1, 2, 5, 4})),
                       "scaled_dot_product_attention: q must be [..., queries, d] and k [..., "
                       "keys, d], got [2, 2, 3, 4] and [1, 2, 5, 4]",
                       Error);
  CHECK_THROWS_AS(scaled_dot_product_attention(ones({2, 3, 4}), ones({1, 5, 4}), ones({1, 5, 4})),
                  Error);
  for (const Shape& wrong :
       {Shape{2, 5, 4}, Shape{2, 2, 6, 4}, Shape{1, 2, 5, 4}, Shape{3, 2, 5, 4}}) {
    const std::string message = fmt::format(
        "attention: values must be [..., keys, d_v] for weights [..., queries, keys], "
        "got {} and [2, 2, 3, 5]",
        wrong);
    CHECK_THROWS_WITH_AS(scaled_dot_product_attention(q, k, ones(wrong)), message.c_str(), Error);
  }
}
