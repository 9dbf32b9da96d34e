// cumsum, cumprod: layouts, precision, zeros.
#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/ops.h"
#include "core/random.h"
#include "tests/core/ops/compare.h"

namespace gradzoo {

TEST_CASE("cumsum: along each axis, in strided memory") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64);
  CHECK(cumsum(x, 0).to_vector<double>() == std::vector<double>{1, 2, 3, 5, 7, 9});
  CHECK(cumsum(x, -1).to_vector<double>() == std::vector<double>{1, 3, 6, 4, 9, 15});
  CHECK(cumsum(transpose(x), 0).to_vector<double>() == std::vector<double>{1, 4, 3, 9, 6, 15});
}

TEST_CASE("cumsum: around the tile, and empty") {
  for (const std::int64_t n : {1, 2, 63, 64, 65, 130}) {
    const Tensor x = ones({3, n}, DType::f64);
    const Tensor y = cumsum(x, 0);
    for (std::int64_t k = 0; k < n; ++k) CHECK(y.at({2, k}) == 3);
    CHECK(cumsum(x, 1).at({1, n - 1}) == static_cast<double>(n));
  }
  CHECK(cumsum(zeros({2, 0}), 1).shape() == Shape{2, 0});
  CHECK(cumprod(zeros({0, 2}), 0).shape() == Shape{0, 2});
}

TEST_CASE("cumsum: ten million floats keep their digits") {
  const std::int64_t n = 10000000;
  const Tensor y = cumsum(full({n}, 0.1), 0);
  CHECK(y.at({n - 1}) ==
        doctest::Approx(static_cast<double>(n) * static_cast<double>(0.1F)).epsilon(1e-6));
}

TEST_CASE("cumsum: integers exactly; booleans and scalars are errors") {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  const Tensor y = cumsum(from_vector<std::int64_t>({big, 2}, {2}), 0);
  CHECK(y.to_vector<std::int64_t>() == std::vector<std::int64_t>{big, big + 2});
  CHECK_THROWS_WITH_AS(cumsum(ones({2}, DType::boolean), 0),
                       "cumsum: the tensor must hold numbers, got boolean", Error);
  CHECK_THROWS_WITH_AS(cumprod(ones({2}), 1),
                       "cumprod: axis 1 is out of range for a tensor with 1 axes", Error);
}

TEST_CASE("cumsum: the gradient runs from the back") {
  Tensor x = zeros({4}, DType::f64).requires_grad_();
  cumsum(x, 0).backward(tensor({1, 10, 100, 1000}, DType::f64));
  CHECK(x.grad().to_vector<double>() == std::vector<double>{1111, 1110, 1100, 1000});
}

TEST_CASE("cumprod: the gradient is exact with zeros among the factors") {
  Tensor x = tensor({2, 0, 3, 0, 5}, DType::f64).requires_grad_();
  const Tensor y = cumprod(x, 0);
  CHECK(y.to_vector<double>() == std::vector<double>{2, 0, 0, 0, 0});
  y.backward(tensor({1, 10, 100, 1000, 10000}, DType::f64));
  // By hand: y1 = x0 x1, y2 = x0 x1 x2, and so on.
  CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 20 + 600, 0, 0, 0});
}

TEST_CASE("cumprod: second derivatives with zeros") {
  const Tensor x = tensor({{2, 0.5}, {0, 3}, {0, 0}, {1.5, -2}}, DType::f64);
  for (const int axis : {0, 1}) {
    const auto f = [axis](const std::vector<Tensor>& in) { return cumprod(in[0], axis); };
    const GradcheckResult second = gradgradcheck(f, {clone(x).requires_grad_()});
    CHECK_MESSAGE(second.ok, second.report);
  }
}

TEST_CASE("cumprod: third derivatives: the gradient of the inner recurrence is a recurrence") {
  Tensor x = tensor({2, 3, 5}, DType::f64).requires_grad_();
  const Tensor last = select(cumprod(x, 0), 0, 2);
  const Tensor first = grad({last}, {x}, {.create_graph = true})[0];
  const Tensor second = grad({select(first, 0, 0)}, {x}, {.create_graph = true})[0];
  CHECK(second.to_vector<double>() == std::vector<double>{0, 5, 3});
  CHECK(grad({select(second, 0, 1)}, {x})[0].to_vector<double>() == std::vector<double>{0, 0, 1});
}

TEST_CASE("cumsum, cumprod: the same bits with 1, 2 and 3 threads") {
  Rng rng(4);
  const Tensor x = randn({200, 500}, rng);
  CHECK(test::same_for_any_threads([&] {
    return std::vector<Tensor>{cumsum(x, 0), cumsum(x, 1), cumprod(x, 0), cumprod(x, 1)};
  }));
}

}  // namespace gradzoo
