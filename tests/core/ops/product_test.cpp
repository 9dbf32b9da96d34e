// prod: zeros among the factors.
#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/ops.h"

namespace gradzoo {
namespace {

std::vector<double> gradient_of(const Tensor& value, const Shape& axes = {}) {
  Tensor x = clone(value).requires_grad_();
  sum(prod(x, axes)).backward();
  return x.grad().to_vector<double>();
}

}  // namespace

TEST_CASE("ZER7: the gradient of a product with zeros is the product of the others") {
  CHECK(gradient_of(tensor({2, 0, 3}, DType::f64)) == std::vector<double>{0, 6, 0});
  CHECK(gradient_of(tensor({2, 0, 0}, DType::f64)) == std::vector<double>{0, 0, 0});
  CHECK(gradient_of(tensor({0}, DType::f64)) == std::vector<double>{1});
  CHECK(gradient_of(scalar(0, DType::f64)) == std::vector<double>{1});
  const Tensor x = tensor({{2, 0, 3}, {0, 0, 5}, {1, 4, 5}}, DType::f64);
  CHECK(gradient_of(x, {1}) == std::vector<double>{0, 6, 0, 0, 0, 0, 20, 5, 4});
  CHECK(gradient_of(x, {0}) == std::vector<double>{0, 0, 25, 2, 0, 15, 0, 0, 15});
}

TEST_CASE("ZER7: second derivatives of a product with zeros") {
  Tensor x = tensor({2, 0, 3, 0}, DType::f64).requires_grad_();
  const Tensor first = grad({prod(x)}, {x}, {.create_graph = true})[0];
  // d2/(dx1 dx3) is the product of the other two, every other pair leaves a zero.
  const Tensor second = grad({select(first, 0, 1)}, {x})[0];
  CHECK(second.to_vector<double>() == std::vector<double>{0, 0, 0, 6});
}

TEST_CASE("prod: over separated axes, around an axis that stays") {
  const Tensor x = reshape(arange(1, 13, 1, DType::f64), {2, 3, 2});
  CHECK(prod(x, {0, 2}).to_vector<double>() ==
        std::vector<double>{1 * 2 * 7 * 8, 3 * 4 * 9 * 10, 5 * 6 * 11 * 12});
}

TEST_CASE("prod: the gradient neither overflows nor divides") {
  const std::vector<double> g = gradient_of(tensor({1e200, 1e200, 1e-200}, DType::f64));
  CHECK(g[0] == doctest::Approx(1).epsilon(1e-12));
  CHECK(g[1] == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("prod: empty is 1, integers exactly") {
  CHECK(prod(zeros({0})).item() == 1);
  CHECK(prod(zeros({0, 2}), {0}).to_vector<float>() == std::vector<float>{1, 1});
  const Tensor x = from_vector<std::int64_t>({3, 1000000007, 1000000009}, {3});
  CHECK(prod(x).to_vector<std::int64_t>()[0] == 3 * std::int64_t{1000000007} * 1000000009);
  CHECK_THROWS_WITH_AS(prod(ones({2}, DType::boolean)),
                       "prod: the tensor must hold numbers, got boolean", Error);
}

}  // namespace gradzoo
