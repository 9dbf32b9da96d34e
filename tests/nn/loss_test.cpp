// Losses: public bug reports, values by hand and of PyTorch, kinks, all gradients.
#include "nn/loss.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "tests/nn/layers_test.h"
#include "tests/reference/reference.h"

using namespace gradzoo;
using namespace gradzoo::nn;

namespace {

Tensor ids(const Tensor& values) { return to(values, DType::i64); }

double value(const Tensor& logits, const Tensor& targets, const SequenceLossOptions& options) {
  return sequence_cross_entropy(logits, targets, options).item();
}

}  // namespace

TEST_CASE("LSM1: padding has no part in the smoothing of sequence_cross_entropy") {
  const Tensor logits = tensor({{{1, 2}, {3, 0.4}}}, DType::f64);
  const SequenceLossOptions options{.pad = -100, .label_smoothing = 0.1};
  const double both = value(logits, ids(tensor({{-100, 1}})), options);
  CHECK(both == doctest::Approx(2.5416447).epsilon(1e-7));
  CHECK(both == value(slice(logits, 1, 1), ids(tensor({{1}})), options));
}

TEST_CASE("LSM3: padding is left out of the mean of sequence_cross_entropy") {
  const Tensor logits = tensor({{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}}, DType::f64);
  const Tensor targets = ids(tensor({{0, 1, -100}}));
  CHECK(value(logits, targets, {.pad = -100, .label_smoothing = 0.1}) ==
        doctest::Approx(1.0681114).epsilon(1e-7));
  CHECK(value(logits, targets, {.pad = -100}) == doctest::Approx(1.0514447).epsilon(1e-7));
}

TEST_CASE("LSM5: padding keeps no smoothing mass, which is eps / K for each class") {
  const Tensor logits = test::input({2, 2, 3}, 1);
  const Tensor targets = ids(tensor({{2, 0}, {1, 0}}));
  const double smoothing = 0.3;
  const Tensor loss = sequence_cross_entropy(logits, targets, {.label_smoothing = smoothing});
  const Tensor log_p = log_softmax(logits.detach());
  double by_hand = 0;
  for (const std::int64_t row : {0, 1}) {
    by_hand -= (1 - smoothing) * log_p.at({row, 0, row == 0 ? 2 : 1}) / 2;
    for (const std::int64_t k : {0, 1, 2}) by_hand -= smoothing / 3 * log_p.at({row, 0, k}) / 2;
  }
  CHECK(loss.item() == doctest::Approx(by_hand).epsilon(1e-14));
  loss.backward();
  CHECK(max(abs(select(logits.grad(), 1, 1))).item() == 0);
  CHECK(min(abs(select(logits.grad(), 1, 0))).item() > 0);
}

TEST_CASE("LSM6: the divisor counts the tokens that are no padding") {
  const Tensor logits = test::input({2, 3, 4}, 2).detach();
  const Tensor targets = ids(tensor({{1, 2, 0}, {3, 0, 0}}));
  CHECK(token_count(targets) == 3);
  CHECK(token_count(targets, 3) == 5);
  CHECK(token_count(zeros({0, 4}, DType::i64)) == 0);
  const Tensor log_p = log_softmax(logits);
  const double plain = -(log_p.at({0, 0, 1}) + log_p.at({0, 1, 2}) + log_p.at({1, 0, 3})) / 3;
  CHECK(value(logits, targets, {}) == doctest::Approx(plain).epsilon(1e-14));
  const Tensor uniform = -mean(log_p, {2});
  const double spread = (uniform.at({0, 0}) + uniform.at({0, 1}) + uniform.at({1, 0})) / 3;
  CHECK(value(logits, targets, {.label_smoothing = 0.1}) ==
        doctest::Approx(0.9 * plain + 0.1 * spread).epsilon(1e-14));
}

TEST_CASE("appending padding to a batch leaves sequence_cross_entropy as it was, bit for bit") {
  const Tensor logits = test::input({2, 3, 5}, 3).detach();
  const Tensor targets = ids(tensor({{1, 2, 4}, {3, 1, 2}}));
  const Tensor more = concat({logits, test::input({2, 2, 5}, 4).detach()}, 1);
  const Tensor padded = concat({targets, zeros({2, 2}, DType::i64)}, 1);
  const SequenceLossOptions options{.label_smoothing = 0.1};
  CHECK(value(more, padded, options) == value(logits, targets, options));
}

TEST_CASE("PyTorch: sequence_cross_entropy with smoothing and padding") {
  const TensorFile file = test::recorded("functions");
  for (const bool smooth : {false, true}) {
    const std::string key = std::string("cross_entropy.mean.") + (smooth ? "smooth" : "plain");
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Tensor logits = test::recorded(file, "logits", dtype).requires_grad_();
      const Tensor loss =
          sequence_cross_entropy(logits, test::recorded(file, "targets", dtype),
                                 {.pad = -7, .label_smoothing = smooth ? 0.2 : 0.0});
      test::check_recorded(key, loss, file.find(key));
      loss.backward(test::recorded(file, key + ".upstream", dtype));
      test::check_recorded(key + ".grad", logits.grad(),
                           reshape(file.find(key + ".grad"), logits.shape()));
    }
  }
}

TEST_CASE("hinge losses by hand, and on both sides of the margin") {
  const Tensor real = tensor({2, 0.5, 1, -1}, DType::f64).requires_grad_();
  const Tensor fake = tensor({{-2, 1}, {-1, -0.5}}, DType::f64).requires_grad_();
  // real: 0, 0.5, 0, 2; fake: 0, 2, 0, 0.5.
  const Tensor loss = hinge_discriminator_loss(real, fake);
  CHECK(loss.item() == 2.5 / 4 + 2.5 / 4);
  loss.backward();
  // On the margin itself the gradient is 0, as relu'(0) is.
  CHECK(real.grad().to_vector<double>() == std::vector<double>{0, -0.25, 0, -0.25});
  CHECK(fake.grad().to_vector<double>() == std::vector<double>{0, 0.25, 0, 0.25});

  const Tensor scores = tensor({1, 2, -6}, DType::f64).requires_grad_();
  const Tensor generator = hinge_generator_loss(scores);
  CHECK(generator.item() == 1);
  generator.backward();
  CHECK(test::max_difference(scores.grad(), full({3}, -1.0 / 3, DType::f64)) == 0);
  CHECK(std::isnan(hinge_generator_loss(zeros({0})).item()));
}

TEST_CASE("gradients of the losses") {
  const Tensor targets = ids(tensor({{1, 0, 3}, {2, 2, 0}}));
  for (const double smoothing : {0.0, 0.2}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return sequence_cross_entropy(in[0], targets, {.label_smoothing = smoothing});
    };
    const auto first = gradzoo::gradcheck(f, {test::input({2, 3, 4}, 5)});
    CHECK_MESSAGE(first.ok, first.report);
    const auto second = gradzoo::gradgradcheck(f, {test::input({2, 3, 4}, 6)});
    CHECK_MESSAGE(second.ok, second.report);
  }
  const auto hinge = gradzoo::gradcheck(
      [](const std::vector<Tensor>& in) { return hinge_discriminator_loss(in[0], in[1]); },
      {test::input({3, 4}, 7), test::input({5}, 8)});
  CHECK_MESSAGE(hinge.ok, hinge.report);
  const auto generator =
      gradzoo::gradcheck([](const std::vector<Tensor>& in) { return hinge_generator_loss(in[0]); },
                         {test::input({5}, 9)});
  CHECK_MESSAGE(generator.ok, generator.report);
}

TEST_CASE("errors of the losses name shapes and targets") {
  const Tensor logits = ones({2, 3, 4});
  CHECK_THROWS_WITH_AS(sequence_cross_entropy(logits, ones({3, 2}, DType::i64)),
                       "sequence_cross_entropy: logits must be [batch, time, classes] and targets "
                       "[batch, time], got [2, 3, 4] and [3, 2]",
                       Error);
  CHECK_THROWS_AS(sequence_cross_entropy(ones({3, 4}), ones({3}, DType::i64)), Error);
  CHECK_THROWS_AS(sequence_cross_entropy(logits, full({2, 3}, 4, DType::i64)), Error);
  CHECK_THROWS_AS(sequence_cross_entropy(logits, ones({2, 3})), Error);
  CHECK_THROWS_AS(token_count(ones({2, 3})), Error);
  CHECK_THROWS_AS(hinge_discriminator_loss(ones({2}), ones({2}, DType::f64)), Error);
}
