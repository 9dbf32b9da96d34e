// Softmax and log_softmax: values, far-apart numbers, masks, gradients, threads.
#include "core/ops/softmax.h"

#include <doctest/doctest.h>

#include "core/gradcheck.h"
#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

const Function kSoftmax = [](const auto& in) { return softmax(in[0]); };
const Function kLogSoftmax = [](const auto& in) { return log_softmax(in[0]); };
const Function kMasked = [](const auto& in) { return softmax(in[0], in[1]); };
const Function kMaskedLog = [](const auto& in) { return log_softmax(in[0], in[1]); };

}  // namespace

TEST_CASE("softmax: rows of every length around vector width and block") {
  Rng rng(1);
  for (const std::int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 255, 257, 4095, 4097}) {
    CAPTURE(n);
    const Tensor x = randn({3, n}, rng, DType::f64) * 4.0;
    const Tensor y = softmax(x);
    const Tensor logs = log_softmax(x);
    for (std::int64_t r = 0; r < 3; ++r) {
      double total = 0;
      for (std::int64_t i = 0; i < n; ++i) total += std::exp(x.at({r, i}));
      double worst = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double p = std::exp(x.at({r, i})) / total;
        worst = std::max(worst, std::abs(y.at({r, i}) - p));
        worst = std::max(worst, std::abs(logs.at({r, i}) - std::log(p)));
      }
      CHECK(worst < 1e-13);
    }
    CHECK(distance(softmax(to(x, DType::f32)), softmax(to(to(x, DType::f32), DType::f64))) < 1e-6);
    CHECK(distance(log_softmax(to(x, DType::f32)), log_softmax(to(to(x, DType::f32), DType::f64))) <
          1e-6);
  }
}

TEST_CASE("softmax, log_softmax: the largest number is found wherever it is") {
  for (std::int64_t n = 1; n <= 50; ++n) {
    const Tensor x = eye(n, n, DType::f64) * 5000.0;  // without it exp overflows
    CHECK(distance(softmax(x), eye(n, n, DType::f64)) == 0);
    CHECK(distance(log_softmax(to(x, DType::f32)), to(x - 5000.0, DType::f32)) == 0);
  }
}

TEST_CASE("softmax: more rows than one block") {
  Rng rng(2);
  for (const std::int64_t rows : {584, 585, 586, 1171}) {  // a block of rows of 7 is 585
    const Tensor x = randn({rows, 7}, rng, DType::f64);
    const Tensor y = softmax(x);
    for (const std::int64_t r : {std::int64_t{0}, rows / 2, rows - 2, rows - 1}) {
      CHECK(distance(select(y, 0, r), softmax(select(x, 0, r))) < 1e-15);
    }
  }
}

TEST_CASE("softmax, log_softmax: numbers of 1e4 and -inf") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = tensor({{1e4, -1e4, 1e4}, {-1e4, -1e4, -kInf}, {-kInf, 3, -kInf}}, dtype);
    CHECK(values(softmax(x)) == std::vector<double>{.5, 0, .5, .5, .5, 0, 0, 1, 0});
    const double half = dtype == DType::f32 ? std::log(0.5F) : std::log(0.5);
    const Tensor logs = log_softmax(x);
    CHECK(logs.at({0, 0}) == doctest::Approx(half).epsilon(1e-7));
    CHECK(logs.at({0, 1}) == doctest::Approx(-2e4 + half).epsilon(1e-7));
    CHECK(logs.at({1, 0}) == doctest::Approx(half).epsilon(1e-7));
    CHECK(logs.at({1, 2}) == -kInf);
    CHECK(logs.at({2, 1}) == 0);
    CHECK(logs.at({2, 0}) == -kInf);
    // Gradients: -inf has none of softmax, and all are finite.
    const Tensor a = leaf(x);
    softmax(a).backward(tensor({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, dtype));
    CHECK(values(a.grad()) == std::vector<double>{-.5, 0, .5, -.25, .25, 0, 0, 0, 0});
  }
}

TEST_CASE("softmax: a row of -inf is NaN, +inf and NaN make the whole row NaN") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = tensor({{-kInf, -kInf, -kInf}, {kInf, 0, -1e3}, {kNaN, 5, -1e3}}, dtype);
    for (const double v : values(softmax(x))) CHECK(std::isnan(v));
    for (const double v : values(log_softmax(select(x, 0, 0)))) CHECK(std::isnan(v));
    for (const double v : values(log_softmax(select(x, 0, 2)))) CHECK(std::isnan(v));
  }
}

TEST_CASE("softmax: empty and of one element") {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 4}}) {
    const Tensor x = leaf(zeros(shape));
    CHECK(softmax(x).shape() == shape);
    CHECK(log_softmax(x, 0).shape() == shape);
    CHECK(softmax(x, ones({1}, DType::boolean)).shape() == shape);
    softmax(x).backward(zeros(shape));
    CHECK(x.grad().shape() == shape);
  }
  CHECK(softmax(tensor({-7})).item() == 1);
  CHECK(log_softmax(tensor({1e30})).item() == 0);
}

TEST_CASE("softmax: any axis, any strides") {
  Rng rng(3);
  const Tensor x = randn({3, 4, 5}, rng, DType::f64);
  const Tensor mask = gt(randn({4, 1}, rng, DType::f64), -0.5);
  for (const std::int64_t axis : {0, 1, -3, -2}) {
    CAPTURE(axis);
    const Tensor moved = clone(transpose(x, axis, -1));
    CHECK(distance(softmax(x, axis), transpose(softmax(moved), axis, -1)) == 0);
    CHECK(distance(log_softmax(x, axis), transpose(log_softmax(moved), axis, -1)) == 0);
    const Tensor moved_mask = clone(transpose(expand(mask, x.shape()), axis, -1));
    CHECK(distance(softmax(x, mask, axis), transpose(softmax(moved, moved_mask), axis, -1)) == 0);
    CHECK(distance(log_softmax(x, mask, axis),
                   transpose(log_softmax(moved, moved_mask), axis, -1)) == 0);
  }
  const Tensor row = randn({5}, rng, DType::f64);
  CHECK(distance(softmax(expand(row, {2, 5})), expand(softmax(row), {2, 5})) == 0);
}

TEST_CASE("softmax: refuses what makes no sense") {
  const Tensor x = zeros({2, 3});
  CHECK(contains(message_of([] { softmax(scalar(1)); }), "softmax: axis -1"));
  CHECK(contains(message_of([&] { log_softmax(x, 2); }), "log_softmax: axis 2"));
  CHECK(contains(message_of([] { softmax(zeros({2}, DType::i64)); }), "got i64"));
  CHECK(contains(message_of([&] { softmax(x, zeros({2, 3})); }), "mask must be boolean, got f32"));
  const auto wider = message_of([&] { softmax(x, ones({4, 2, 3}, DType::boolean)); });
  CHECK(contains(wider, "[4, 2, 3]"));
  CHECK(contains(wider, "[2, 3]"));
  const auto other = message_of([&] { log_softmax(x, ones({2}, DType::boolean)); });
  CHECK(contains(other, "[2]"));
  CHECK(contains(other, "[2, 3]"));
  CHECK(contains(message_of([&] {
                   softmax(zeros({1, 3}), ones({2, 3}, DType::boolean));
                 }),
                 "cannot be broadcast to x"));
}

TEST_CASE("SCE1: log_softmax of numbers far apart") {
  const Tensor x = tensor({-781.1664, -1043.7303, 890.2518, -1234.9999, -1622.5167, -2174.6855,
                           -1304.8042, -1730.8314, -1072.6201, -1899.7662});
  const Tensor wanted = tensor({-1671.4182, -1933.9822, 0, -2125.2517, -2512.7686, -3064.9373,
                                -2195.0559, -2621.0832, -1962.8718, -2790.0181});
  CHECK(distance(log_softmax(x), wanted) < 2e-7);
  CHECK(distance(log_softmax(to(x, DType::f64)), to(wanted, DType::f64)) < 2e-7);
}

TEST_CASE("softmax, log_softmax: a mask of any shape that can be broadcast") {
  Rng rng(4);
  const std::int64_t batch = 2, heads = 3, queries = 5, keys = 9;
  const Tensor x = randn({batch, heads, queries, keys}, rng, DType::f64);
  for (const Shape& shape :
       {Shape{batch, 1, 1, keys}, Shape{1, 1, queries, keys}, Shape{keys}, Shape{queries, 1},
        Shape{batch, heads, queries, keys}, Shape{heads, 1, 1}, Shape{}}) {
    CAPTURE(to_string(shape));
    const Tensor mask = lt(rand(shape, rng, DType::f64), 0.6);
    const Tensor full = expand(mask, x.shape());
    const Tensor poisoned = where(full, x, full_like(x, kNaN));
    const Tensor y = softmax(poisoned, mask);
    const Tensor logs = log_softmax(poisoned, mask);
    double worst = 0;
    for (std::int64_t r = 0; r < batch * heads * queries; ++r) {
      const std::int64_t b = r / (heads * queries), h = r / queries % heads, q = r % queries;
      double total = 0;
      for (std::int64_t k = 0; k < keys; ++k) {
        if (full.at({b, h, q, k}) == 1) total += std::exp(x.at({b, h, q, k}));
      }
      for (std::int64_t k = 0; k < keys; ++k) {
        if (full.at({b, h, q, k}) == 1) {
          const double p = std::exp(x.at({b, h, q, k})) / total;
          worst = std::max(worst, std::abs(y.at({b, h, q, k}) - p));
          worst = std::max(worst, std::abs(logs.at({b, h, q, k}) - std::log(p)));
        } else {
          CHECK(y.at({b, h, q, k}) == 0);
          CHECK(logs.at({b, h, q, k}) == -kInf);
        }
      }
    }
    CHECK(worst < 1e-14);
  }
  // A mask that is itself a view with steps.
  const Tensor wide = lt(rand({queries, 2 * keys}, rng), 0.5);
  const Tensor stepped = slice(wide, 1, 0, kEnd, 2);
  CHECK(distance(softmax(x, stepped), softmax(x, clone(stepped))) == 0);
  const Tensor turned = transpose(lt(rand({keys, queries}, rng), 0.5));
  CHECK(distance(softmax(x, turned), softmax(x, clone(turned))) == 0);
}

TEST_CASE("softmax with a mask: what is masked neither leaks nor gets a gradient") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const double bad : {kNaN, kInf, -kInf}) {
      const Tensor x = tensor({{1, bad, 2}, {bad, bad, bad}}, dtype);
      const Tensor mask = tensor({{1, 0, 1}, {0, 0, 0}}, DType::boolean);
      // Not even an infinite gradient at a masked place may reach the others.
      const Tensor upstream = tensor({{3, bad, 5}, {bad, 1, 2}}, dtype);
      for (const bool composed : {false, true}) {
        const Tensor a = leaf(x);
        const Tensor y = softmax(a, mask);
        const Tensor dx = grad({y}, {a}, {.grad_outputs = {upstream}, .create_graph = composed})[0];
        const double p = 1 / (1 + std::exp(1.0));
        const double slope = -2 * p * (1 - p);
        const auto shape = Shape{2, 3};
        CHECK(distance(y, to(from_vector<double>({p, 0, 1 - p, 0, 0, 0}, shape), dtype)) < 1e-7);
        CHECK(distance(dx, to(from_vector<double>({slope, 0, -slope, 0, 0, 0}, shape), dtype)) <
              2e-7);
        const Tensor logs = log_softmax(a, mask);
        const Tensor dlogs =
            grad({logs}, {a}, {.grad_outputs = {upstream}, .create_graph = composed})[0];
        const double d = 3 - 8 * p;
        CHECK(distance(dlogs, to(from_vector<double>({d, 0, -d, 0, 0, 0}, shape), dtype)) < 5e-7);
      }
    }
  }
}

TEST_CASE("softmax with a mask: NaN where it counts stays inside the mask") {
  const Tensor x = tensor({kNaN, 1, 2});
  const Tensor mask = tensor({1, 1, 0}, DType::boolean);
  const auto y = values(softmax(x, mask));
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == 0);
  const auto logs = values(log_softmax(x, mask));
  CHECK(std::isnan(logs[1]));
  CHECK(logs[2] == -kInf);
}

TEST_CASE("MSK1: a query that sees no key has weights 0 and all gradients are finite") {
  // true = may attend; the last row of item 1 sees nothing.
  const Tensor attend =
      tensor({{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}}, DType::boolean);
  const Tensor keys = tensor({{{1, 1, 1, 1}}, {{1, 1, 0, 0}}}, DType::boolean);
  Rng rng(6);
  const Tensor scores = leaf(randn({2, 4, 4}, rng));
  const Tensor weights = softmax(scores, logical_and(attend, keys));
  for (std::int64_t k = 0; k < 4; ++k) CHECK(weights.at({1, 3, k}) == 0);
  CHECK(weights.at({0, 0, 0}) == 1);
  weights.backward(randn(weights.shape(), rng));
  for (const double g : values(scores.grad())) CHECK(std::isfinite(g));
  for (std::int64_t k = 0; k < 4; ++k) CHECK(scores.grad().at({1, 3, k}) == 0);
  CHECK(scores.grad().at({0, 3, 2}) != 0);
}

TEST_CASE("MSK3: a masked row with nothing but -inf is 0, with gradient 0") {
  const Tensor mask = ones({2}, DType::boolean);
  Tensor x = leaf(full({2, 2}, -kInf));
  const Tensor y = softmax(x, mask);
  CHECK(values(y) == std::vector<double>(4, 0));
  y.backward(tensor({{1, 2}, {3, 4}}));
  CHECK(values(x.grad()) == std::vector<double>(4, 0));
  x.zero_grad();
  const Tensor logs = log_softmax(x, mask);
  CHECK(values(logs) == std::vector<double>(4, -kInf));
  logs.backward(tensor({{1, 2}, {3, 4}}));
  CHECK(values(x.grad()) == std::vector<double>(4, 0));
}

TEST_CASE("MSK5: masked log_softmax of a row whose mask is all false") {
  const Tensor x = tensor({{.3725, .5344, .2128, .3324, .2745, .2454}, {1, 2, 3, 4, 5, 6}});
  const Tensor y = log_softmax(x, tensor({{1}, {0}}, DType::boolean));
  const Tensor wanted = tensor({-1.7537, -1.5918, -1.9134, -1.7938, -1.8518, -1.8808});
  CHECK(distance(select(y, 0, 0), wanted) < 5e-5);
  CHECK(values(select(y, 0, 1)) == std::vector<double>(6, -kInf));
}

TEST_CASE("MSK7: the gradient of a masked logit is 0, not NaN") {
  const Tensor a = leaf(ones({5}));
  const Tensor scaled = a * 4.0;
  const Tensor y = softmax(scaled, tensor({1, 0, 1, 1, 1}, DType::boolean));
  select(y, 0, 2).backward();
  CHECK(distance(a.grad(), tensor({-.25, 0, .75, -.25, -.25})) < 1e-6);
  CHECK(a.grad().at({1}) == 0);
}

TEST_CASE("softmax, log_softmax: the fused gradient is the formula's") {
  Rng rng(7);
  for (const std::int64_t n : {1, 2, 7, 8, 17, 33, 300}) {
    CAPTURE(n);
    const Tensor x = randn({6, n}, rng, DType::f64) * 2.0;
    const Tensor mask = lt(rand({6, n}, rng), 0.6);
    for (const Function& f : {kSoftmax, kLogSoftmax, kMasked, kMaskedLog}) {
      CHECK(fused_error(f, {x, mask}) < 1e-13);
      CHECK(fused_error(f, {to(x, DType::f32), mask}) < 3e-6);
    }
  }
}

TEST_CASE("softmax, log_softmax: first and second derivatives") {
  Rng rng(8);
  const Tensor x = leaf(randn({3, 5}, rng, DType::f64));
  const Tensor mask = tensor({{1, 1, 0, 1, 0}, {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}}, DType::boolean);
  CHECK_MESSAGE(gradcheck(kSoftmax, {x}).ok, gradcheck(kSoftmax, {x}).report);
  CHECK(gradgradcheck(kSoftmax, {x}).ok);
  CHECK(gradcheck(kLogSoftmax, {x}).ok);
  CHECK(gradgradcheck(kLogSoftmax, {x}).ok);
  CHECK(gradcheck(kMasked, {x, mask}).ok);
  CHECK(gradgradcheck(kMasked, {x, mask}).ok);
  // What is masked is -inf in logarithms: finite differences need it replaced.
  const Function masked_log = [](const auto& in) {
    return masked_fill(log_softmax(in[0], in[1]), logical_not(in[1]), 0);
  };
  CHECK(gradcheck(masked_log, {x, mask}).ok);
  CHECK(gradgradcheck(masked_log, {x, mask}).ok);
  const Function first_axis = [](const auto& in) { return softmax(in[0], 0); };
  CHECK(gradcheck(first_axis, {x}).ok);
  CHECK(gradgradcheck(first_axis, {x}).ok);
}

TEST_CASE("softmax, log_softmax: the same bits with 1, 2 and 3 threads") {
  Rng rng(9);
  const Tensor x = randn({700, 23}, rng);
  const Tensor mask = lt(rand({23}, rng), 0.6);
  CHECK(same_for_any_threads([&] {
    std::vector<Tensor> all = {softmax(x), log_softmax(x), softmax(x, mask), log_softmax(x, mask)};
    for (const Function& f : {kSoftmax, kLogSoftmax, kMasked, kMaskedLog}) {
      for (const Tensor& g : gradients(f, {x, mask}, false)) all.push_back(g);
    }
    return all;
  }));
}
