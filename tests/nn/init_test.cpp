// Initial weights: their ranges, moments and seeds.
#include "nn/init.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/nn/layers_test.h"

using namespace gradzoo;
namespace init = gradzoo::nn::init;

TEST_CASE("uniform and normal have the moments they say, and are parameters") {
  Rng rng(1);
  const Tensor u = init::uniform({100, 100}, -1, 3, rng);
  CHECK(u.requires_grad());
  CHECK(min(u).item() >= -1);
  CHECK(max(u).item() < 3);
  CHECK(mean(u).item() == doctest::Approx(1).epsilon(0.05).scale(0));
  const Tensor n = init::normal({100, 100}, 2, 0.5, rng);
  CHECK(mean(n).item() == doctest::Approx(2).epsilon(0.02));
  CHECK(gradzoo::std(n).item() == doctest::Approx(0.5).epsilon(0.05).scale(0));
  CHECK(init::constant({3}, 7).to_vector<float>() == std::vector<float>{7, 7, 7});
}

TEST_CASE("xavier_uniform: the bound is sqrt(6 / (in + out))") {
  Rng rng(2);
  const Tensor w = init::xavier_uniform({40, 60}, rng);
  const double bound = std::sqrt(6.0 / 100);
  CHECK(max(abs(w)).item() <= bound + 1e-6);
  CHECK(max(abs(w)).item() > 0.99 * bound);
  CHECK_THROWS_AS(init::xavier_uniform({3}, rng), Error);
}

TEST_CASE("the same seed gives the same weights") {
  Rng a(3), b(3), c(4);
  const auto first = init::uniform({5, 5}, 0, 1, a).to_vector<float>();
  CHECK(first == init::uniform({5, 5}, 0, 1, b).to_vector<float>());
  CHECK(first != init::uniform({5, 5}, 0, 1, c).to_vector<float>());
}

TEST_CASE("truncated_normal stays inside, keeps the shape of the bell, and draws the same again") {
  Rng rng(5), same(5);
  const Tensor w = init::truncated_normal({200, 100}, rng);
  CHECK(w.requires_grad());
  CHECK(max(abs(w)).item() <= 2);
  CHECK(max(abs(w)).item() > 1.98);
  // A normal distribution cut at two deviations has the variance 0.7737.
  CHECK(mean(w).item() == doctest::Approx(0).scale(1).epsilon(0.02));
  CHECK(var(w).item() == doctest::Approx(0.7737).epsilon(0.03).scale(0));
  CHECK(w.to_vector<float>() == init::truncated_normal({200, 100}, same).to_vector<float>());
  const Tensor tail =
      init::truncated_normal({500}, rng, {.mean = 3, .std = 2, .low = 5, .high = 5.5});
  CHECK(min(tail).item() >= 5);
  CHECK(max(tail).item() <= 5.5);
  CHECK(init::truncated_normal({0, 3}, rng).numel() == 0);
  CHECK_THROWS_AS(init::truncated_normal({3}, rng, {.std = 0}), Error);
  CHECK_THROWS_AS(init::truncated_normal({3}, rng, {.low = 1, .high = -1}), Error);
  CHECK_THROWS_WITH_AS(init::truncated_normal({3}, rng, {.low = 4, .high = 9}),
                       "init::truncated_normal: [4, 9] holds only 3.17e-05 of N(0, 1^2)", Error);
}

TEST_CASE("gains are PyTorch's") {
  using init::Nonlinearity;
  CHECK(init::gain(Nonlinearity::linear) == 1);
  CHECK(init::gain(Nonlinearity::sigmoid) == 1);
  CHECK(init::gain(Nonlinearity::tanh) == doctest::Approx(1.6666666666666667));
  CHECK(init::gain(Nonlinearity::relu) == doctest::Approx(1.4142135623730951));
  CHECK(init::gain(Nonlinearity::leaky_relu) == doctest::Approx(1.4141428569978354));
  CHECK(init::gain(Nonlinearity::leaky_relu, 1) == doctest::Approx(1));
  CHECK(init::gain(Nonlinearity::selu) == 0.75);
}

TEST_CASE("xavier and kaiming count the kernel of a convolution in both fans") {
  Rng rng(6);
  // [out 40, in 10, kernel 3 x 2]: fan_in 60, fan_out 240.
  const Shape shape{40, 10, 3, 2};
  const auto bound = [](const Tensor& w) { return max(abs(w)).item(); };
  const auto deviation = [](const Tensor& w) { return gradzoo::std(w).item(); };
  const auto is = [](double value) { return doctest::Approx(value).epsilon(0.05).scale(0); };
  CHECK(bound(init::xavier_uniform(shape, rng)) == is(std::sqrt(6.0 / 300)));
  CHECK(bound(init::xavier_uniform(shape, rng, 3)) == is(3 * std::sqrt(6.0 / 300)));
  CHECK(deviation(init::xavier_normal(shape, rng)) == is(std::sqrt(2.0 / 300)));
  CHECK(deviation(init::xavier_normal(shape, rng, 2)) == is(2 * std::sqrt(2.0 / 300)));
  CHECK(bound(init::kaiming_uniform(shape, rng)) == is(std::sqrt(6.0 / 60)));
  CHECK(bound(init::kaiming_uniform(shape, rng, {.fan = init::Fan::out})) ==
        is(std::sqrt(6.0 / 240)));
  CHECK(deviation(init::kaiming_normal(shape, rng)) == is(std::sqrt(2.0 / 60)));
  const init::KaimingOptions leaky{.fan = init::Fan::out,
                                   .nonlinearity = init::Nonlinearity::leaky_relu,
                                   .slope = std::sqrt(5.0)};
  CHECK(deviation(init::kaiming_normal(shape, rng, leaky)) == is(std::sqrt(2.0 / 6 / 240)));
  CHECK(init::kaiming_normal({0, 3}, rng).numel() == 0);
  CHECK(init::kaiming_normal({3, 0}, rng).numel() == 0);
  CHECK_THROWS_WITH_AS(init::kaiming_uniform({3}, rng),
                       "init::kaiming_uniform: the shape must be [out, in, ...], got [3]", Error);
}

TEST_CASE("orthogonal: rows or columns are orthonormal, whichever are fewer") {
  Rng rng(7);
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 5}, Shape{3, 8}, Shape{8, 3}, Shape{4, 3, 2},
                             Shape{7, 2, 3}, Shape{64, 64}}) {
    CAPTURE(shape);
    const Tensor w = init::orthogonal(shape, rng, 2);
    CHECK(w.requires_grad());
    CHECK(w.is_contiguous());
    CHECK(w.shape() == shape);
    const Tensor matrix = to(reshape(w.detach(), {shape[0], -1}), DType::f64);
    const bool wide = matrix.size(0) <= matrix.size(1);
    const Tensor product =
        wide ? matmul(matrix, transpose(matrix)) : matmul(transpose(matrix), matrix);
    const Tensor identity = eye(product.size(0), -1, DType::f64);
    CHECK(test::max_difference(product, identity * 4) < 1e-6);
  }
  CHECK(init::orthogonal({0, 3}, rng).numel() == 0);
  CHECK_THROWS_AS(init::orthogonal({3}, rng), Error);
}

TEST_CASE("orthogonal matrices have no preferred direction") {
  Rng rng(8);
  // A uniformly random rotation or reflection of the plane: every element has mean 0 and mean
  // square 1/2, and half of the determinants are negative.
  double mean = 0, mean_square = 0, negative = 0;
  const int draws = 2000;
  for (int i = 0; i < draws; ++i) {
    const auto q = init::orthogonal({2, 2}, rng).to_vector<float>();
    mean += q[0] / draws;
    mean_square += q[3] * q[3] / draws;
    negative += (q[0] * q[3] - q[1] * q[2] < 0) / static_cast<double>(draws);
  }
  CHECK(std::abs(mean) < 0.05);
  CHECK(mean_square == doctest::Approx(0.5).epsilon(0.08).scale(0));
  CHECK(negative == doctest::Approx(0.5).epsilon(0.08).scale(0));
}
