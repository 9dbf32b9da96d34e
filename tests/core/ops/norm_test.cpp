// layer_norm and rms_norm: values, rows that cost digits, parameters, gradients, threads.
#include "core/ops/norm.h"

#include <doctest/doctest.h>

#include "core/gradcheck.h"
#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

// One row in f64, two passes, by loops.
std::vector<double> normalized(const std::vector<double>& row, bool centered, double eps) {
  const double n = static_cast<double>(row.size());
  double mean = 0;
  for (const double v : row) mean += centered ? v / n : 0;
  double var = 0;
  for (const double v : row) var += (v - mean) * (v - mean) / n;
  std::vector<double> out;
  for (const double v : row) out.push_back((v - mean) / std::sqrt(var + eps));
  return out;
}

const Function kLayer = [](const auto& in) { return layer_norm(in[0], in[1], in[2]); };
const Function kRms = [](const auto& in) { return rms_norm(in[0], in[1]); };

}  // namespace

TEST_CASE("layer_norm, rms_norm: rows of every length around the vector width") {
  Rng rng(1);
  for (const std::int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 1023, 1025}) {
    CAPTURE(n);
    const Tensor x = randn({3, n}, rng, DType::f64) + 2.0;
    const Tensor weight = randn({n}, rng, DType::f64);
    const Tensor bias = randn({n}, rng, DType::f64);
    const Tensor layer = layer_norm(x, weight, bias);
    const Tensor rms = rms_norm(x, weight);
    for (std::int64_t r = 0; r < 3; ++r) {
      const Tensor row = from_vector(normalized(values(select(x, 0, r)), true, 1e-5), {n});
      CHECK(distance(select(layer, 0, r), row * weight + bias) < 1e-12);
      const Tensor scaled = from_vector(normalized(values(select(x, 0, r)), false, 1e-6), {n});
      CHECK(distance(select(rms, 0, r), scaled * weight) < 1e-12);
    }
    CHECK(distance(layer_norm(to(x, DType::f32), to(weight, DType::f32), to(bias, DType::f32)),
                   layer) < 1e-5);
    CHECK(distance(rms_norm(to(x, DType::f32), to(weight, DType::f32)), rms) < 1e-5);
  }
}

TEST_CASE("layer_norm: with weight only, with bias only, with neither") {
  Rng rng(2);
  const Tensor x = randn({2, 3, 5}, rng, DType::f64);
  const Tensor weight = randn({5}, rng, DType::f64);
  const Tensor bias = randn({5}, rng, DType::f64);
  const Tensor plain = layer_norm(x);
  CHECK(distance(layer_norm(x, weight), plain * weight) < 1e-15);
  CHECK(distance(layer_norm(x, {}, bias), plain + bias) < 1e-15);
  CHECK(distance(layer_norm(x, weight, bias), plain * weight + bias) < 1e-15);
  CHECK(distance(rms_norm(x, weight), rms_norm(x) * weight) < 1e-15);
  CHECK(distance(layer_norm(x, weight, bias, 0.5), layer_norm(x, weight, bias)) > 0.1);
  const Tensor turned = permute(x, {2, 0, 1});
  const Tensor steps = slice(randn({6}, rng, DType::f64), 0, 0, kEnd, 2);
  CHECK(distance(layer_norm(turned, steps, steps),
                 layer_norm(clone(turned), clone(steps), clone(steps))) == 0);
}

TEST_CASE("layer_norm: a mean of 1e4 with a spread of 1e-2, in f32") {
  Rng rng(3);
  for (const std::int64_t n : {16, 64, 512}) {
    const Tensor x = to(randn({4, n}, rng, DType::f64) * 1e-2 + 1e4, DType::f32);
    const Tensor y = layer_norm(x);
    for (std::int64_t r = 0; r < 4; ++r) {
      const Tensor wanted = from_vector(normalized(values(select(x, 0, r)), true, 1e-5), {n});
      CHECK(distance(select(y, 0, r), wanted) < 3e-6);
    }
  }
}

TEST_CASE("layer_norm: the gradient of rows with a large mean has its digits, in f32") {
  Rng rng(4);
  const Tensor x = to(randn({3, 64}, rng, DType::f64) * 1e-2 + 1e4, DType::f32);
  const Tensor upstream = randn({3, 64}, rng);
  const auto gradient = [&](DType dtype) {
    const Tensor a = leaf(to(x, dtype));
    return grad({layer_norm(a)}, {a}, {.grad_outputs = {to(upstream, dtype)}})[0];
  };
  CHECK(distance(gradient(DType::f32), gradient(DType::f64)) < 1e-5);
}

TEST_CASE("LNM1: 1000 + i / 1000 keeps its digits in f32") {
  const Tensor x = to(arange(0, 16, 1, DType::f64) * 1e-3 + 1000.0, DType::f32);
  CHECK(layer_norm(x).at({0}) == doctest::Approx(-1.3415078).epsilon(1e-6));
  const Tensor wanted = from_vector(normalized(values(x), true, 1e-5), {16});
  CHECK(distance(layer_norm(x), wanted) < 1e-6);
}

TEST_CASE("LNM3: a row that is constant after rounding gives zeros") {
  const Tensor x = leaf(to(arange(0, 5, 1, DType::f64) + 1e15, DType::f32));
  const Tensor y = layer_norm(x);
  CHECK(values(y) == std::vector<double>(5, 0));
  y.backward(tensor({1, 2, 3, 4, 5}));
  for (const double g : values(x.grad())) CHECK(std::isfinite(g));
}

TEST_CASE("LNM5: a constant row gives the bias, its gradient is finite") {
  for (const double value : {0.0, 0.1, -7.0, 1e30}) {
    for (const bool composed : {false, true}) {
      const Tensor x = leaf(full({2, 3}, value));
      const Tensor bias = tensor({1, -2, 3});
      const Tensor y = layer_norm(x, tensor({2, 2, 2}), bias);
      CHECK(distance(y, expand(bias, {2, 3})) == 0);
      const Tensor upstream = tensor({{1, 2, 6}, {0, 0, 0}});
      const Tensor dx = grad({y}, {x}, {.grad_outputs = {upstream}, .create_graph = composed})[0];
      // (u - mean(u)) / sqrt(eps), with u = 2 g
      const double s = 2 / std::sqrt(1e-5);
      if (value < 1e20) {
        CHECK(distance(dx, tensor({{-2 * s, -s, 3 * s}, {0, 0, 0}})) < 1e-6);
      }
      for (const double g : values(dx)) CHECK(std::isfinite(g));
    }
  }
}

TEST_CASE("rms_norm: a row of zeros gives zeros, with the gradient of the eps") {
  const Tensor x = leaf(zeros({1, 4}));
  const Tensor y = rms_norm(x);
  CHECK(values(y) == std::vector<double>(4, 0));
  y.backward(tensor({{1, 2, 3, 4}}));
  CHECK(distance(x.grad(), tensor({{1e3, 2e3, 3e3, 4e3}})) < 1e-6);
}

TEST_CASE("layer_norm: large and infinite numbers") {
  // f32 squares overflow beyond 1.8e19; the sum of squares is kept in f64.
  const Tensor y = layer_norm(tensor({1e25, -1e25, 1e25, -1e25}));
  CHECK(distance(y, tensor({1, -1, 1, -1})) < 1e-6);
  CHECK(distance(rms_norm(tensor({1e25, 1e25})), tensor({1, 1})) < 1e-6);
  for (const double v : values(layer_norm(tensor({1, kInf, 2})))) CHECK(std::isnan(v));
  for (const double v : values(layer_norm(tensor({1, kNaN, 2})))) CHECK(std::isnan(v));
}

TEST_CASE("layer_norm, rms_norm: no rows, no columns, one column") {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0}, Shape{2, 0, 4}}) {
    CAPTURE(to_string(shape));
    const Tensor x = leaf(zeros(shape));
    const Tensor weight = leaf(ones({shape.back()}));
    const Tensor bias = leaf(ones({shape.back()}));
    for (const bool composed : {false, true}) {
      const Tensor y = layer_norm(x, weight, bias);
      CHECK(y.shape() == shape);
      const auto grads =
          grad({y}, {x, weight, bias}, {.grad_outputs = {zeros(shape)}, .create_graph = composed});
      CHECK(grads[0].shape() == shape);
      for (const double v : values(grads[1])) CHECK(v == 0);
      for (const double v : values(grads[2])) CHECK(v == 0);
      CHECK(rms_norm(x, weight).shape() == shape);
    }
  }
  CHECK(values(layer_norm(tensor({{3}, {-4}}), {}, tensor({.5}))) == std::vector<double>{.5, .5});
}

TEST_CASE("layer_norm, rms_norm: refuse what makes no sense") {
  CHECK(contains(message_of([] { layer_norm(scalar(1)); }), "at least one axis"));
  CHECK(contains(message_of([] { layer_norm(zeros({2}, DType::i64)); }), "got i64"));
  const auto text = message_of([] { layer_norm(zeros({2, 3}), ones({2})); });
  CHECK(contains(text, "layer_norm: weight"));
  CHECK(contains(text, "[2] for x of shape [2, 3]"));
  CHECK(contains(message_of([] { layer_norm(zeros({2, 3}), {}, ones({1, 3})); }), "bias"));
  CHECK(contains(message_of([] { rms_norm(zeros({2}), ones({2}, DType::f64)); }),
                 "weight is f64, x is f32"));
}

TEST_CASE("layer_norm, rms_norm: the fused gradients are the formula's") {
  Rng rng(5);
  for (const std::int64_t n : {1, 2, 7, 8, 17, 33, 300}) {
    for (const std::int64_t rows : {1, 63, 64, 65, 130}) {
      CAPTURE(n);
      CAPTURE(rows);
      const Tensor x = randn({rows, n}, rng, DType::f64) + 1.0;
      const Tensor weight = randn({n}, rng, DType::f64);
      const Tensor bias = randn({n}, rng, DType::f64);
      CHECK(fused_error(kLayer, {x, weight, bias}) < (n == 1 ? 1e-10 : 1e-12));
      CHECK(fused_error(kRms, {x, weight}) < 1e-12);
      if (n < 3) continue;  // rows of two numbers are all +-1: f32 has no digits left of dx
      const Tensor x32 = to(x, DType::f32);
      const Tensor w32 = to(weight, DType::f32);
      CHECK(fused_error(kLayer, {x32, w32, to(bias, DType::f32)}) < 1e-4);
      CHECK(fused_error(kRms, {x32, w32}) < 1e-4);
    }
  }
}

TEST_CASE("layer_norm, rms_norm: gradients of what is asked for only") {
  Rng rng(6);
  const Tensor x = randn({4, 6}, rng, DType::f64);
  const Tensor upstream = randn({4, 6}, rng, DType::f64);
  const Tensor weight = leaf(randn({6}, rng, DType::f64));
  layer_norm(x, weight).backward(upstream);
  CHECK(distance(weight.grad(), sum(upstream * layer_norm(x), {0})) < 1e-14);
  const Tensor bias = leaf(zeros({6}, DType::f64));
  layer_norm(x, {}, bias).backward(upstream);
  CHECK(distance(bias.grad(), sum(upstream, {0})) < 1e-14);
  const Tensor a = leaf(x);
  layer_norm(a, weight.detach()).backward(upstream);
  CHECK(a.grad().shape() == Shape{4, 6});
}

TEST_CASE("layer_norm, rms_norm: first and second derivatives") {
  Rng rng(7);
  const Tensor x = leaf(randn({3, 4}, rng, DType::f64));
  const Tensor weight = leaf(randn({4}, rng, DType::f64));
  const Tensor bias = leaf(randn({4}, rng, DType::f64));
  CHECK_MESSAGE(gradcheck(kLayer, {x, weight, bias}).ok,
                gradcheck(kLayer, {x, weight, bias}).report);
  CHECK_MESSAGE(gradgradcheck(kLayer, {x, weight, bias}).ok,
                gradgradcheck(kLayer, {x, weight, bias}).report);
  CHECK(gradcheck(kRms, {x, weight}).ok);
  CHECK(gradgradcheck(kRms, {x, weight}).ok);
}

TEST_CASE("layer_norm, rms_norm: the same bits with 1, 2 and 3 threads") {
  Rng rng(8);
  const Tensor x = randn({300, 33}, rng);
  const Tensor weight = randn({33}, rng);
  const Tensor bias = randn({33}, rng);
  CHECK(same_for_any_threads([&] {
    std::vector<Tensor> all = {layer_norm(x, weight, bias), rms_norm(x, weight)};
    for (const Tensor& g : gradients(kLayer, {x, weight, bias}, false)) all.push_back(g);
    for (const Tensor& g : gradients(kRms, {x, weight}, false)) all.push_back(g);
    return all;
  }));
}
