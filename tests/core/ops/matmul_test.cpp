// Products against plain loops: shapes, strides, batches, threads; and their gradients.
#include "core/ops/matmul.h"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include "core/autograd.h"
#include "core/create.h"
#include "core/gradcheck.h"
#include "core/kernels/blas.h"
#include "core/kernels/gemm.h"
#include "core/kernels/parallel.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/view.h"
#include "core/random.h"
#include "core/threads.h"
#include "tests/core/ops/plain_matmul.h"

namespace gradzoo {
namespace {

using test::plain_matmul;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> doubles(const Tensor& x) { return to(x, DType::f64).to_vector<double>(); }

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return kNan;
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

double largest_difference(const Tensor& x, const Tensor& y) {
  return x.shape() == y.shape() ? largest_difference(doubles(x), doubles(y)) : kNan;
}

// The numbers are normal with deviation 1, so a sum of k products has an error of this order.
double tolerance(DType dtype, std::int64_t k) {
  const double eps = dtype == DType::f32 ? 6e-8 : 1.2e-16;
  return 40 * eps * static_cast<double>(k + 4);
}

bool matches_plain(const Tensor& a, const Tensor& b) {
  const Tensor y = matmul(a, b);
  const double error = largest_difference(doubles(y), plain_matmul(a, b));
  const bool good = y.is_contiguous() && error <= tolerance(a.dtype(), a.size(-1));
  if (!good) MESSAGE(to_string(a.shape()), " x ", to_string(b.shape()), ": off by ", error);
  return good;
}

// Every way in which a matrix can lie in memory.
std::vector<Tensor> layouts(std::int64_t rows, std::int64_t cols, DType dtype, Rng& rng) {
  return {
      randn({rows, cols}, rng, dtype),
      transpose(randn({cols, rows}, rng, dtype)),
      slice(randn({rows, cols + 3}, rng, dtype), 1, 2, cols + 2),                    // gaps
      slice(slice(randn({3 * rows, cols}, rng, dtype), 0, 1, kEnd, 3), 1, 0, kEnd),  // rows apart
      slice(randn({rows, 2 * cols}, rng, dtype), 1, 0, kEnd, 2),                     // neither
      transpose(slice(randn({cols, 3 * rows}, rng, dtype), 1, 0, kEnd, 3)),          // is 1
      expand(randn({1, cols}, rng, dtype), {rows, cols}),                            // stride 0
      expand(randn({rows, 1}, rng, dtype), {rows, cols}),
      expand(randn({1, 1}, rng, dtype), {rows, cols}),
      select(permute(randn({rows, 2, cols}, rng, dtype), {1, 0, 2}), 0, 1),  // a head
      slice(slice(randn({rows + 1, cols + 1}, rng, dtype), 0, 1), 1, 1),     // an offset
  };
}

TEST_CASE("matmul: f64 and f32 sizes up to 64 agree with plain loops (BLS4)") {
  Rng rng(1);
  std::vector<std::int64_t> sizes{31, 32, 33, 47, 63, 64};
  for (std::int64_t i = 1; i <= 17; ++i) sizes.push_back(i);
  for (const DType dtype : {DType::f64, DType::f32}) {
    int wrong = 0;
    for (std::int64_t i = 1; i <= 64; ++i) {
      wrong += !matches_plain(randn({i, i}, rng, dtype), randn({i, i}, rng, dtype));
    }
    for (const std::int64_t n : sizes) {
      for (const std::int64_t m : sizes) {
        for (const std::int64_t k : sizes) {
          wrong += !matches_plain(randn({n, k}, rng, dtype), randn({k, m}, rng, dtype));
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("matmul: every layout of both operands") {
  Rng rng(2);
  for (const DType dtype : {DType::f64, DType::f32}) {
    int wrong = 0;
    for (const auto& [n, k, m] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {1, 7, 1}, {5, 1, 4}, {1, 6, 9}, {9, 6, 1}, {4, 5, 6}, {40, 33, 17}}) {
      for (const Tensor& a : layouts(n, k, dtype, rng)) {
        for (const Tensor& b : layouts(k, m, dtype, rng)) wrong += !matches_plain(a, b);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("matmul: sizes that are cut into tiles") {
  Rng rng(3);
  for (const auto& [n, k, m] : std::vector<std::array<std::int64_t, 3>>{{768, 64, 64},
                                                                        {64, 64, 768},
                                                                        {129, 70, 65},
                                                                        {33, 900, 31},
                                                                        {1500, 40, 3},
                                                                        {3, 40, 1500},
                                                                        {1, 700, 1600},
                                                                        {1600, 700, 1},
                                                                        {1030, 20, 800},
                                                                        {800, 20, 1030},
                                                                        {2049, 1, 33}}) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      CHECK(matches_plain(randn({n, k}, rng, dtype), randn({k, m}, rng, dtype)));
      CHECK(matches_plain(transpose(randn({k, n}, rng, dtype)),
                          transpose(randn({m, k}, rng, dtype))));
    }
  }
}

TEST_CASE("matmul: batches broadcast, whatever their strides") {
  Rng rng(4);
  const auto check_batch = [&](const Shape& a, const Shape& b) {
    CHECK(matches_plain(randn(a, rng, DType::f64), randn(b, rng, DType::f64)));
  };
  check_batch({3, 4, 5}, {3, 5, 6});
  check_batch({1, 4, 5}, {3, 5, 6});
  check_batch({3, 4, 5}, {1, 5, 6});
  check_batch({3, 4, 5}, {5, 6});
  check_batch({4, 5}, {3, 5, 6});
  check_batch({2, 1, 4, 5}, {3, 5, 6});
  check_batch({2, 3, 4, 5}, {1, 3, 5, 6});
  check_batch({2, 1, 3, 1, 2, 1, 4, 5}, {2, 3, 1, 2, 2, 5, 6});
  check_batch({300, 20, 16}, {300, 16, 20});
  check_batch({5, 200, 30}, {5, 30, 90});
  check_batch({2, 1, 1}, {2, 1, 1});

  const Tensor heads = permute(randn({4, 7, 3, 8}, rng, DType::f64), {0, 2, 1, 3});
  CHECK(matches_plain(heads, transpose(heads)));
  CHECK(matches_plain(transpose(heads), heads));
  CHECK(matches_plain(heads, transpose(randn({5, 8}, rng, DType::f64))));
  CHECK(matches_plain(expand(randn({4, 5}, rng, DType::f64), {6, 4, 5}),
                      expand(randn({1, 5, 3}, rng, DType::f64), {6, 5, 3})));
  CHECK(matches_plain(flip(randn({3, 4, 5}, rng, DType::f64), {0}),
                      slice(randn({6, 5, 4}, rng, DType::f64), 0, 1, kEnd, 2)));
}

TEST_CASE("matmul: vectors are a row on the left, a column on the right") {
  const Tensor u = tensor({1, 2, 3}, DType::f64);
  const Tensor v = tensor({4, 5, 6}, DType::f64);
  const Tensor m = tensor({{1, 2}, {3, 4}, {5, 6}}, DType::f64);
  CHECK(matmul(u, v).shape() == Shape{});
  CHECK(matmul(u, v).item() == 32);
  CHECK(matmul(u, m).to_vector<double>() == std::vector<double>{22, 28});
  CHECK(matmul(transpose(m), v).to_vector<double>() == std::vector<double>{49, 64});
  CHECK(matmul(u, expand(m, {4, 3, 2})).shape() == Shape{4, 2});
  CHECK(matmul(expand(transpose(m), {4, 2, 3}), v).shape() == Shape{4, 2});
}

TEST_CASE("matmul: empty extents give zeros and keep the graph (EMP1, EMP5, BLS2)") {
  Tensor a = zeros({2, 0}, DType::f64);
  Tensor b = zeros({0, 3}, DType::f64);
  a.requires_grad_();
  b.requires_grad_();
  const Tensor y = matmul(a, b);
  CHECK(y.shape() == Shape{2, 3});
  CHECK(y.to_vector<double>() == std::vector<double>(6, 0.0));
  const std::vector<Tensor> grads = grad({y}, {a, b}, {.grad_outputs = {ones({2, 3}, DType::f64)}});
  CHECK(grads[0].shape() == Shape{2, 0});
  CHECK(grads[1].shape() == Shape{0, 3});
  CHECK_THROWS_AS(matmul(zeros({2, 0}), zeros({1, 3})), Error);

  CHECK(matmul(zeros({3, 0, 0}), zeros({0, 0})).shape() == Shape{3, 0, 0});
  CHECK(matmul(zeros({3, 2, 0}), zeros({0, 4})).to_vector<float>() == std::vector<float>(24, 0));
  CHECK(matmul(zeros({0, 2, 5}), zeros({5, 4})).shape() == Shape{0, 2, 4});
  CHECK(matmul(zeros({0, 2, 5}), zeros({1, 5, 4})).shape() == Shape{0, 2, 4});
  CHECK(matmul(zeros({1, 0}), zeros({0, 1})).item() == 0);
  CHECK(matmul(zeros({0}), zeros({0})).item() == 0);
  CHECK(linear(zeros({2, 0}), zeros({3, 0}), ones({3})).to_vector<float>() ==
        std::vector<float>(6, 1));
}

TEST_CASE("matmul: what the memory of the result held does not matter (BLS10)") {
  Rng rng(5);
  kernels::Walk<3> one;
  one.shape[0] = one.numel = 1;
  for (const std::int64_t n : {1, 3, 20, 65, 200}) {
    for (const std::int64_t m : {1, 8, 33, 129}) {
      for (const std::int64_t k : {0, 1, 7, 64}) {
        const Tensor a = randn({n, k}, rng, DType::f64), b = randn({m, k}, rng, DType::f64);
        std::vector<double> c(static_cast<std::size_t>(n * m), kNan);
        const std::int64_t row = std::max<std::int64_t>(k, 1);
        kernels::Matrix<double> turned{b.data<double>(), 1, row};
        if (row == 1) turned = {b.data<double>(), m, 1};
        kernels::gemm<double>(one, {.n = n,
                                    .m = m,
                                    .k = k,
                                    .a = {a.data<double>(), row, 1},
                                    .b = turned,
                                    .c = c.data(),
                                    .c_stride = m});
        CHECK(largest_difference(c, plain_matmul(a, transpose(b))) <= tolerance(DType::f64, k));
      }
    }
  }
}

TEST_CASE("matmul: NaN and infinity in an operand reach the result") {
  Tensor a = zeros({3, 4}, DType::f64);
  mutable_data<double>(a)[5] = kNan;
  const Tensor y = matmul(a, zeros({4, 2}, DType::f64));
  CHECK(y.at({0, 0}) == 0);
  CHECK(std::isnan(y.at({1, 0})));
  CHECK(std::isnan(y.at({1, 1})));
  mutable_data<double>(a)[5] = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(matmul(a, zeros({4, 2}, DType::f64)).at({1, 1})));  // inf * 0
}

TEST_CASE("matmul: the same bits with 1, 2 and 3 threads") {
  Rng rng(6);
  const int before = num_threads();
  for (const auto& [a_shape, b_shape] :
       std::vector<std::pair<Shape, Shape>>{{{768, 64}, {64, 64}},
                                            {{64, 1280}, {1280, 64}},
                                            {{1100, 300}, {300, 900}},
                                            {{256, 20, 16}, {256, 16, 20}},
                                            {{3, 200, 100}, {3, 100, 100}},
                                            {{1, 700}, {700, 900}}}) {
    const Tensor a = randn(a_shape, rng), b = randn(b_shape, rng);
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      results.push_back(matmul(a, b).to_vector<float>());
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
  set_num_threads(before);
}

TEST_CASE("matmul: products inside a parallel region are the same (BLS6, BLS8)") {
  Rng rng(7);
  const Tensor a = randn({150, 90}, rng, DType::f64), b = randn({90, 150}, rng, DType::f64);
  const std::vector<double> expected = matmul(a, b).to_vector<double>();
  std::atomic<int> right = 0;
  kernels::parallel_for(32, 1, [&](std::int64_t, std::int64_t) {
    right += matmul(a, b).to_vector<double>() == expected;
  });
  CHECK(right == 32);
}

TEST_CASE("matmul: four threads, each with products of its own (BLS9)") {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      Rng rng(t);
      const Tensor a = randn({40, 30}, rng), b = randn({30, 50}, rng);
      const Tensor c = randn({300, 64}, rng), d = randn({64, 64}, rng);
      const std::vector<float> ab = matmul(a, b).to_vector<float>();
      const std::vector<float> cd = matmul(c, d).to_vector<float>();
      wrong += largest_difference(doubles(matmul(a, b)), plain_matmul(a, b)) > 1e-4;
      for (int round = 0; round < 250; ++round) {
        wrong += matmul(a, b).to_vector<float>() != ab;
        wrong += matmul(c, d).to_vector<float>() != cd;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("matmul: with one thread, OpenBLAS starts none of its own (BLS8)") {
  const auto threads_of_process = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  Rng rng(12);
  const Tensor a = randn({400, 400}, rng);
  const int before = num_threads();
  const int openmp_before = omp_get_max_threads();
  set_num_threads(1);
  omp_set_num_threads(8);  // what an OpenMP build of OpenBLAS would use
  const auto count = threads_of_process();
  matmul(a, a);
  CHECK(threads_of_process() == count);
  CHECK(omp_get_max_threads() == 8);
  omp_set_num_threads(openmp_before);
  set_num_threads(before);
}

TEST_CASE("linear: x W^T + bias, for any strides and leading axes") {
  Rng rng(8);
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const Tensor& x : layouts(9, 7, dtype, rng)) {
      for (const Tensor& weight : layouts(5, 7, dtype, rng)) {
        const Tensor bias = slice(randn({10}, rng, dtype), 0, 0, kEnd, 2);
        const Tensor product = matmul(x, transpose(weight));
        CHECK(largest_difference(linear(x, weight), product) <= tolerance(dtype, 7));
        CHECK(largest_difference(linear(x, weight, bias), product + bias) <= tolerance(dtype, 7));
      }
    }
    const Tensor x = permute(randn({3, 2, 7}, rng, dtype), {1, 0, 2});
    const Tensor weight = randn({5, 7}, rng, dtype), bias = randn({5}, rng, dtype);
    CHECK(largest_difference(linear(x, weight, bias), matmul(x, transpose(weight)) + bias) <=
          tolerance(dtype, 7));
    CHECK(largest_difference(linear(select(select(x, 0, 1), 0, 2), weight, bias),
                             select(select(linear(x, weight, bias), 0, 1), 0, 2)) <=
          tolerance(dtype, 7));
    const Tensor many = randn({700, 7}, rng, dtype), wide = randn({900, 7}, rng, dtype);
    const Tensor wide_bias = randn({900}, rng, dtype);
    CHECK(largest_difference(linear(many, wide, wide_bias),
                             matmul(many, transpose(wide)) + wide_bias) <= tolerance(dtype, 7));
  }
}

// The ops that the gradients of `y` are made of.
std::vector<std::pair<std::string, Shape>> gradient_ops(const Tensor& y,
                                                        const std::vector<Tensor>& inputs) {
  std::vector<std::pair<std::string, Shape>> ops;
  Tensor upstream = ones_like(y);
  upstream.requires_grad_();
  const auto grads = grad({y}, inputs, {.grad_outputs = {upstream}, .create_graph = true});
  for (const auto& node : graph_nodes(grads)) ops.emplace_back(node->op.name, node->shape);
  return ops;
}

TEST_CASE("matmul, linear: the gradient of a shared matrix is one product over all rows") {
  Rng rng(9);
  Tensor x = randn({4, 6, 3}, rng), w = randn({3, 5}, rng), bias = randn({5}, rng);
  w.requires_grad_();
  int products = 0;
  for (const auto& [op, shape] : gradient_ops(matmul(x, w), {w})) {
    CHECK(op != "sum");
    CHECK(op != "sum_to");
    products += op == "matmul";
    if (op == "matmul") CHECK(shape.numel() == 15);
  }
  CHECK(products == 1);
  Tensor v = randn({5, 3}, rng);
  v.requires_grad_();
  for (const auto& [op, shape] : gradient_ops(linear(x, v, bias), {v})) {
    if (op == "matmul") CHECK(shape == Shape{5, 3});
  }
}

void check_derivatives(const CheckedFunction& f, std::vector<Tensor> inputs) {
  for (Tensor& x : inputs) x.requires_grad_();
  const GradcheckResult first = gradcheck(f, inputs);
  CHECK_MESSAGE(first.ok, first.report);
  const GradcheckResult second = gradgradcheck(f, inputs);
  CHECK_MESSAGE(second.ok, second.report);
}

TEST_CASE("matmul: first and second derivatives, for all ways to broadcast") {
  Rng rng(10);
  const auto both = [&](const Shape& a, const Shape& b) {
    CAPTURE(to_string(a));
    CAPTURE(to_string(b));
    check_derivatives([](const std::vector<Tensor>& in) { return matmul(in[0], in[1]); },
                      {randn(a, rng, DType::f64), randn(b, rng, DType::f64)});
  };
  both({3, 4}, {4, 2});
  both({1, 1}, {1, 1});
  both({4}, {4});
  both({4}, {4, 3});
  both({3, 4}, {4});
  both({2, 3, 4}, {4});
  both({4}, {2, 4, 3});
  both({2, 3, 4}, {4, 2});
  both({3, 4}, {2, 4, 2});
  both({2, 3, 4}, {2, 4, 2});
  both({2, 3, 4}, {1, 4, 2});
  both({1, 3, 4}, {2, 4, 2});
  both({2, 1, 2, 3}, {3, 3, 2});
  check_derivatives(
      [](const std::vector<Tensor>& in) {
        return matmul(permute(in[0], {1, 2, 0}), slice(in[1], 1, 0, kEnd, 2));
      },
      {randn({4, 2, 3}, rng, DType::f64), randn({4, 4}, rng, DType::f64)});
  check_derivatives([](const std::vector<Tensor>& in) { return matmul(in[0], in[0]); },
                    {randn({3, 3}, rng, DType::f64)});
}

TEST_CASE("linear: first and second derivatives") {
  Rng rng(11);
  const auto x = [&](const Shape& shape) { return randn(shape, rng, DType::f64); };
  const CheckedFunction with_bias = [](const std::vector<Tensor>& in) {
    return linear(in[0], in[1], in[2]);
  };
  const CheckedFunction without = [](const std::vector<Tensor>& in) {
    return linear(in[0], in[1]);
  };
  check_derivatives(with_bias, {x({3, 4}), x({2, 4}), x({2})});
  check_derivatives(with_bias, {x({2, 3, 4}), x({2, 4}), x({2})});
  check_derivatives(with_bias, {x({4}), x({2, 4}), x({2})});
  check_derivatives(without, {x({2, 3, 4}), x({2, 4})});
  check_derivatives(without, {x({4}), x({1, 4})});
}

TEST_CASE("matmul, linear: errors print both shapes") {
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, std::initializer_list<const char*> parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const char* part) { return text.find(part) != std::string::npos; });
  };
  CHECK(has(message([] { matmul(zeros({2, 3}), zeros({4, 5})); }), {"matmul", "[2, 3]", "[4, 5]"}));
  CHECK(has(message([] {
              matmul(zeros({2, 1, 3}), zeros({4, 3, 5}));
            }),
            {"matmul", "[2, 1, 3]", "[4, 3, 5]"}));
  CHECK(has(message([] { matmul(zeros({}), zeros({3})); }), {"matmul", "[]", "[3]"}));
  CHECK(has(message([] { matmul(zeros({3}), zeros({4})); }), {"matmul", "3", "4"}));
  CHECK(has(message([] {
              matmul(zeros({2, 2}), zeros({2, 2}, DType::f64));
            }),
            {"matmul", "f32", "f64"}));
  CHECK(has(message([] {
              matmul(zeros({2, 2}, DType::i64), zeros({2, 2}, DType::i64));
            }),
            {"matmul", "i64"}));
  CHECK(has(message([] { linear(zeros({2, 3}), zeros({4, 5})); }), {"linear", "[2, 3]", "[4, 5]"}));
  CHECK(has(message([] { linear(zeros({2, 3}), zeros({3})); }), {"linear", "[2, 3]", "[3]"}));
  CHECK(has(message([] {
              linear(zeros({2, 3}), zeros({4, 3}), zeros({3}));
            }),
            {"linear", "bias", "[4]", "[4, 3]", "[3]"}));
  CHECK(has(message([] { linear(zeros({}), zeros({4, 3})); }), {"linear", "[]", "[4, 3]"}));
}

}  // namespace
}  // namespace gradzoo
