// Losses: values, ignored targets, label smoothing, far-apart logits, gradients, threads.
#include "core/ops/loss.h"

#include <doctest/doctest.h>

#include "core/gradcheck.h"
#include "tests/core/ops/compare.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

Tensor ids(std::initializer_list<std::int64_t> list) {
  return from_vector<std::int64_t>(list, {static_cast<std::int64_t>(list.size())});
}

Function cross_entropy_of(const Tensor& targets, const CrossEntropyOptions& options = {}) {
  return [=](const auto& in) { return cross_entropy(in[0], targets, options); };
}

// -sum_i q_i log p_i of one row of f64 logits, by loops.
double row_loss(const Tensor& x, std::int64_t row, std::int64_t target, double smoothing) {
  const std::int64_t k = x.size(-1);
  double most = -kInf;
  for (std::int64_t i = 0; i < k; ++i) most = std::max(most, x.at({row, i}));
  double total = 0;
  for (std::int64_t i = 0; i < k; ++i) total += std::exp(x.at({row, i}) - most);
  double loss = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const double q = (i == target ? 1 - smoothing : 0) + smoothing / static_cast<double>(k);
    if (q > 0) loss -= q * (x.at({row, i}) - most - std::log(total));
  }
  return loss;
}

}  // namespace

TEST_CASE("cross_entropy: every number of classes around vector width and chunk") {
  Rng rng(1);
  for (const std::int64_t k : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 255, 256, 257, 513}) {
    CAPTURE(k);
    const Tensor x = randn({4, k}, rng, DType::f64) * 3.0;
    const Tensor targets = randint(0, k, {4}, rng);
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      const CrossEntropyOptions none{.label_smoothing = smoothing, .reduction = Reduction::none};
      const Tensor losses = cross_entropy(x, targets, none);
      double total = 0;
      for (std::int64_t r = 0; r < 4; ++r) {
        const auto target = static_cast<std::int64_t>(targets.at({r}));
        const double wanted = row_loss(x, r, target, smoothing);
        total += wanted;
        CHECK(losses.at({r}) == doctest::Approx(wanted).epsilon(1e-12));
      }
      CHECK(distance(cross_entropy(to(x, DType::f32), targets, none), losses) < 1e-5);
      CHECK(cross_entropy(x, targets, {.label_smoothing = smoothing, .reduction = Reduction::sum})
                .item() == doctest::Approx(total).epsilon(1e-12));
      CHECK(cross_entropy(x, targets, {.label_smoothing = smoothing}).item() ==
            doctest::Approx(total / 4).epsilon(1e-12));
    }
  }
}

TEST_CASE("cross_entropy: any rank, any strides") {
  Rng rng(2);
  const Tensor x = randn({4, 3, 2}, rng, DType::f64);
  const Tensor turned = permute(x, {2, 1, 0});  // [2, 3, 4]
  const Tensor targets = transpose(randint(0, 4, {3, 2}, rng));
  const CrossEntropyOptions none{.reduction = Reduction::none};
  const Tensor losses = cross_entropy(turned, targets, none);
  CHECK(losses.shape() == Shape{2, 3});
  CHECK(same_bits(losses, cross_entropy(clone(turned), clone(targets), none)));
  CHECK(cross_entropy(select(select(turned, 0, 1), 0, 2), select(select(targets, 0, 1), 0, 2))
            .item() == doctest::Approx(losses.at({1, 2})));
}

TEST_CASE("cross_entropy: logits of 1e4 and -inf") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = leaf(
        tensor({{1e4, -1e4, 1e4}, {-1e4, 1e4, 9999}, {0, -kInf, 0}, {-kInf, -kInf, 5}}, dtype));
    const Tensor targets = ids({0, 0, 2, 2});
    const Tensor losses = cross_entropy(x, targets, {.reduction = Reduction::none});
    CHECK(losses.at({0}) == doctest::Approx(std::log(2.0)).epsilon(1e-7));
    CHECK(losses.at({1}) == doctest::Approx(20000.313261687).epsilon(1e-7));
    CHECK(losses.at({2}) == doctest::Approx(std::log(2.0)).epsilon(1e-7));
    CHECK(losses.at({3}) == 0);
    for (const bool composed : {false, true}) {
      const Tensor dx = grad({losses}, {x},
                             {.grad_outputs = {tensor({1, 2, 3, 4}, dtype)},
                              .create_graph = composed,
                              .retain_graph = true})[0];
      const double p = 2 / (1 + std::exp(1.0));
      CHECK(distance(dx, tensor({{-.5, 0, .5}, {-2, 2 - p, p}, {1.5, 0, -1.5}, {0, 0, 0}}, dtype)) <
            3e-7);
    }
    CHECK(cross_entropy(tensor({{0, -kInf}}, dtype), ids({1})).item() == kInf);
  }
}

TEST_CASE("cross_entropy: label smoothing with -inf logits is infinite, its gradient is not") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = leaf(tensor({{0, -kInf, 0, 0}}, dtype));
    const Tensor loss = cross_entropy(x, ids({0}), {.label_smoothing = .1});
    CHECK(loss.item() == kInf);
    for (const bool composed : {false, true}) {
      const Tensor dx = grad({loss}, {x}, {.create_graph = composed, .retain_graph = true})[0];
      const double third = 1.0 / 3;
      CHECK(distance(dx, tensor({{third - .925, -.025, third - .025, third - .025}}, dtype)) <
            1e-7);
    }
    // Without smoothing, and with nothing else, a part of weight 0 is no NaN.
    CHECK(cross_entropy(x, ids({0})).item() == doctest::Approx(std::log(3.0)));
    CHECK(cross_entropy(x, ids({1}), {.label_smoothing = 1}).item() == kInf);
  }
}

TEST_CASE("SCE4: every target ignored: 0 with gradient 0, under each reduction") {
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    for (const double smoothing : {0.0, 0.1}) {
      const Tensor x = leaf(tensor({{1, 2, 3}, {kNaN, kInf, -kInf}}));
      const Tensor targets = ids({-100, -100});
      const Tensor loss =
          cross_entropy(x, targets, {.label_smoothing = smoothing, .reduction = reduction});
      for (const double v : values(loss)) CHECK(v == 0);
      for (const bool composed : {false, true}) {
        const Tensor dx = grad({loss}, {x},
                               {.grad_outputs = {full_like(loss, 3)},
                                .create_graph = composed,
                                .retain_graph = true})[0];
        CHECK(values(dx) == std::vector<double>(6, 0));
      }
    }
  }
}

TEST_CASE("SCE5: a target that is no class is an error naming it and the range") {
  const Tensor x = zeros({2, 5});
  for (const std::int64_t bad : {-4, 5, -100}) {
    const auto text = message_of([&] { cross_entropy(x, ids({1, bad}), {.ignore_index = -1}); });
    CAPTURE(text);
    CHECK(contains(text, "cross_entropy: target " + std::to_string(bad)));
    CHECK(contains(text, "[0, 5)"));
  }
  CHECK(cross_entropy(x, ids({1, -1}), {.ignore_index = -1}).item() ==
        doctest::Approx(std::log(5.0)));
}

TEST_CASE("SCE7: ignore_index leaves out rows, not a class") {
  const Tensor x = tensor({{0, 1, 1}, {0, 1, 1}});
  const Tensor losses =
      cross_entropy(x, ids({1, 2}), {.ignore_index = 0, .reduction = Reduction::none});
  CHECK(losses.at({0}) == doctest::Approx(0.8619948).epsilon(1e-7));
  CHECK(losses.at({1}) == doctest::Approx(0.8619948).epsilon(1e-7));
  CHECK(cross_entropy(x, ids({0, 2}), {.ignore_index = 0}).item() ==
        doctest::Approx(0.8619948).epsilon(1e-7));
}

TEST_CASE("LSM1: ignored rows have no part in the smoothing") {
  const Tensor x = tensor({{1, 2}, {3, .4}});
  CHECK(cross_entropy(x, ids({-100, 1}), {.label_smoothing = .1}).item() ==
        doctest::Approx(2.5416447).epsilon(1e-7));
}

TEST_CASE("LSM3: ignored rows are left out of the mean") {
  const Tensor x = tensor({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}});
  const Tensor targets = ids({0, 1, -100});
  CHECK(cross_entropy(x, targets, {.label_smoothing = .1}).item() ==
        doctest::Approx(1.0681114).epsilon(1e-7));
  CHECK(cross_entropy(x, targets).item() == doctest::Approx(1.0514447).epsilon(1e-7));
}

TEST_CASE("LSM5: padded rows keep no smoothing mass, which is eps / K for each class") {
  const Tensor x = leaf(tensor({{1, 2, 0, 4}, {1, 2, 0, 4}}, DType::f64));
  const Tensor loss = cross_entropy(x, ids({3, 0}), {.ignore_index = 0, .label_smoothing = .2});
  CHECK(loss.item() == doctest::Approx(row_loss(x, 0, 3, .2)));
  loss.backward();
  const Tensor p = softmax(select(x.detach(), 0, 0));
  const Tensor q = tensor({.05, .05, .05, .85}, DType::f64);
  CHECK(distance(select(x.grad(), 0, 0), p - q) < 1e-15);
  CHECK(values(select(x.grad(), 0, 1)) == std::vector<double>(4, 0));
}

TEST_CASE("LSM6: the mean divides by the number of targets that count") {
  Rng rng(3);
  const Tensor x = randn({5, 4}, rng, DType::f64);
  const Tensor targets = ids({1, -100, 3, -100, 0});
  for (const double smoothing : {0.0, 0.1}) {
    const double sum =
        row_loss(x, 0, 1, smoothing) + row_loss(x, 2, 3, smoothing) + row_loss(x, 4, 0, smoothing);
    CHECK(cross_entropy(x, targets, {.label_smoothing = smoothing}).item() ==
          doctest::Approx(sum / 3).epsilon(1e-13));
    CHECK(cross_entropy(x, targets, {.label_smoothing = smoothing, .reduction = Reduction::sum})
              .item() == doctest::Approx(sum).epsilon(1e-13));
  }
}

TEST_CASE("cross_entropy: empty, and refuses what makes no sense") {
  const Tensor none = leaf(zeros({0, 3}));
  const Tensor loss = cross_entropy(none, zeros({0}, DType::i64));
  CHECK(loss.item() == 0);
  loss.backward();
  CHECK(none.grad().shape() == Shape{0, 3});
  const Tensor x = zeros({2, 3});
  const auto wrong = message_of([&] { cross_entropy(x, ids({1, 1, 1})); });
  CHECK(contains(wrong, "[3]"));
  CHECK(contains(wrong, "[2, 3]"));
  CHECK(contains(message_of([&] { cross_entropy(x, zeros({2})); }), "got f32"));
  CHECK(contains(message_of([&] { cross_entropy(scalar(1), ids({1})); }), "axis of classes"));
  CHECK(contains(message_of([&] {
                   cross_entropy(x, ids({1, 1}), {.label_smoothing = 1.5});
                 }),
                 "label_smoothing must be in [0, 1], got 1.5"));
  CHECK(contains(message_of([&] {
                   cross_entropy(zeros({1, 3}, DType::i64), ids({1}));
                 }),
                 "got i64"));
  CHECK(contains(message_of([&] { cross_entropy(zeros({1, 0}), ids({0})); }), "[0, 0)"));
}

TEST_CASE("cross_entropy: the fused gradient is the formula's, and has second derivatives") {
  Rng rng(4);
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    for (const double smoothing : {0.0, 0.1}) {
      const CrossEntropyOptions options{
          .ignore_index = 2, .label_smoothing = smoothing, .reduction = reduction};
      for (const std::int64_t k : {3, 8, 17, 300}) {
        const Tensor x = randn({7, k}, rng, DType::f64) * 2.0;
        const Function f = cross_entropy_of(randint(0, k, {7}, rng), options);
        CHECK(fused_error(f, {x}) < 1e-13);
        CHECK(fused_error(f, {to(x, DType::f32)}) < 3e-6);
      }
      const Tensor x = leaf(randn({4, 3}, rng, DType::f64));
      const Function f = cross_entropy_of(ids({0, 2, 1, 1}), options);
      CHECK(gradcheck(f, {x}).ok);
      CHECK(gradgradcheck(f, {x}).ok);
    }
  }
}

TEST_CASE("cross_entropy: NaN in an ignored row stays out of the second derivatives") {
  const Tensor x = leaf(tensor({{1, 2, 0}, {kNaN, kNaN, kInf}}, DType::f64));
  const Tensor loss = cross_entropy(x, ids({0, -100}), {.label_smoothing = .1});
  const Tensor first = grad({loss}, {x}, {.create_graph = true})[0];
  const Tensor second = grad({sum(square(first))}, {x})[0];
  CHECK(second.at({0, 1}) != 0);
  for (const double v : values(second)) CHECK(std::isfinite(v));
  for (std::int64_t i = 0; i < 3; ++i) CHECK(second.at({1, i}) == 0);
}

TEST_CASE("cross_entropy: the same bits with 1, 2 and 3 threads") {
  Rng rng(5);
  const Tensor x = randn({700, 23}, rng);
  const Tensor targets = randint(0, 23, {700}, rng);
  CHECK(same_for_any_threads([&] {
    const CrossEntropyOptions options{.ignore_index = 3, .label_smoothing = .1};
    const Function f = cross_entropy_of(targets, options);
    return std::vector<Tensor>{f({x}), gradients(f, {x}, false)[0]};
  }));
}

TEST_CASE("mse_loss: values, reductions, gradients") {
  const Tensor x = leaf(tensor({{1, 2}, {3, 5}}, DType::f64));
  const Tensor t = leaf(tensor({{0, 2}, {5, 1}}, DType::f64));
  CHECK(values(mse_loss(x, t, Reduction::none)) == std::vector<double>{1, 0, 4, 16});
  CHECK(mse_loss(x, t, Reduction::sum).item() == 21);
  CHECK(mse_loss(x, t).item() == 5.25);
  mse_loss(x, t).backward();
  CHECK(values(x.grad()) == std::vector<double>{.5, 0, -1, 2});
  CHECK(values(t.grad()) == std::vector<double>{-.5, 0, 1, -2});
  CHECK(std::isnan(mse_loss(zeros({0}), zeros({0})).item()));
  CHECK(mse_loss(zeros({0}), zeros({0}), Reduction::sum).item() == 0);
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const Function f = [=](const auto& in) { return mse_loss(in[0], in[1], reduction); };
    CHECK(gradcheck(f, {x, t}).ok);
    CHECK(gradgradcheck(f, {x, t}).ok);
  }
  const auto text = message_of([] { mse_loss(zeros({2}), zeros({2, 1})); });
  CHECK(contains(text, "[2] and [2, 1]"));
  CHECK(contains(message_of([] { mse_loss(zeros({2}), zeros({2}, DType::f64)); }), "f32 and f64"));
}

TEST_CASE("binary_cross_entropy_with_logits: exact for large logits") {
  const Tensor x = leaf(tensor({0, 30, 30, -30, -30, 1e4, -1e4, 1e4, -1e4, 2}, DType::f64));
  const Tensor t = leaf(tensor({.3, 1, 0, 1, 0, 1, 0, 0, 1, .25}, DType::f64));
  const Tensor y = binary_cross_entropy_with_logits(x, t, Reduction::none);
  const double tail = std::exp(-30.0);  // log(1 + tail) is tail to 14 digits
  const std::vector<double> wanted = {
      std::log(2.0), tail, 30, 30, tail, 0, 0, 1e4, 1e4, 1.5 + std::log1p(std::exp(-2.0))};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(values(y)[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
  }
  y.backward(ones_like(y));
  const std::vector<double> slopes = {.2, -tail, 1, -1, tail,
                                      0,  0,     1, -1, 1 / (1 + std::exp(-2.0)) - .25};
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    CHECK(values(x.grad())[i] == doctest::Approx(slopes[i]).epsilon(1e-12));
    CHECK(values(t.grad())[i] == doctest::Approx(-values(x)[i]).epsilon(1e-12));
  }
}

TEST_CASE("binary_cross_entropy_with_logits: reductions, derivatives, refusals") {
  Rng rng(6);
  const Tensor x = leaf(randn({3, 4}, rng, DType::f64));
  const Tensor t = leaf(rand({3, 4}, rng, DType::f64));
  const Tensor losses = binary_cross_entropy_with_logits(x, t, Reduction::none);
  CHECK(binary_cross_entropy_with_logits(x, t).item() == doctest::Approx(mean(losses).item()));
  CHECK(binary_cross_entropy_with_logits(x, t, Reduction::sum).item() ==
        doctest::Approx(sum(losses).item()));
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const Function f = [=](const auto& in) {
      return binary_cross_entropy_with_logits(in[0], in[1], reduction);
    };
    CHECK(gradcheck(f, {x, t}).ok);
    CHECK(gradgradcheck(f, {x, t}).ok);
  }
  const auto text = message_of([] { binary_cross_entropy_with_logits(zeros({2}), zeros({3})); });
  CHECK(contains(text, "binary_cross_entropy_with_logits"));
  CHECK(contains(text, "[2] and [3]"));
}
