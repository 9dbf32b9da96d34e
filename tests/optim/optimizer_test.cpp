// What all optimizers share: groups, tied weights, gradients that come late, state.
#include "optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "core/threads.h"
#include "nn/checkpoint.h"
#include "optim/adagrad.h"
#include "optim/adam.h"
#include "optim/rmsprop.h"
#include "optim/sgd.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using optim::Adam;
using optim::Sgd;

namespace {

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return tensor(values, dtype).requires_grad_();
}

std::vector<std::string> names(const optim::NamedTensors& tensors) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : tensors) all.push_back(name);
  return all;
}

// Two parameters, of which the second gets its gradients from the third step on.
struct Walk {
  Tensor w, b;
  explicit Walk(DType dtype) {
    Rng rng(1);
    w = randn({3, 3}, rng, dtype).requires_grad_();
    b = randn({5}, rng, dtype).requires_grad_();
  }
  optim::NamedTensors named() const { return {{"w", w}, {"b", b}}; }

  template <class Optimizer>
  void steps(Optimizer& optimizer, int first, int last) {
    for (int step = first; step <= last; ++step) {
      Rng rng(100 + static_cast<std::uint64_t>(step));
      w.set_grad(randn(w.shape(), rng, w.dtype()));
      if (step >= 3) b.set_grad(randn(b.shape(), rng, b.dtype()));
      optimizer.step(1.0 / step);
    }
  }
};

template <class T>
void check_same_bits(const Walk& a, const Walk& b) {
  CHECK(a.w.to_vector<T>() == b.w.to_vector<T>());
  CHECK(a.b.to_vector<T>() == b.b.to_vector<T>());
}

// 20 steps at once, and `before` steps, a file, a fresh optimizer and the rest.
template <class Optimizer, class T>
void check_resumes(const typename Optimizer::Options& options, int before) {
  Walk whole(dtype_of<T>), first(dtype_of<T>), second(dtype_of<T>);
  Optimizer all(whole.named(), options);
  whole.steps(all, 1, 20);
  const test::TemporaryDirectory folder;
  Optimizer interrupted(first.named(), options);
  first.steps(interrupted, 1, before);
  nn::save(folder / "state", interrupted);
  assign(second.w, first.w.detach());
  assign(second.b, first.b.detach());
  Optimizer resumed(second.named(), options);
  nn::load(folder / "state", resumed);
  CHECK(resumed.steps() == before);
  second.steps(resumed, before + 1, 20);
  check_same_bits<T>(whole, second);
}

template <class Optimizer>
void check_resumes(const typename Optimizer::Options& options) {
  for (const int before : {1, 10}) {
    check_resumes<Optimizer, float>(options, before);
    check_resumes<Optimizer, double>(options, before);
  }
}

}  // namespace

TEST_CASE("TRN2: a resumed run continues bit for bit, with every optimizer") {
  check_resumes<Sgd>({.lr = 0.1});
  check_resumes<Sgd>({.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1});
  check_resumes<Sgd>({.lr = 0.1, .momentum = 0.9, .nesterov = true});
  check_resumes<Adam>({.lr = 0.1});
  check_resumes<Adam>({.lr = 0.1, .weight_decay = 0.1, .decoupled = true});
  check_resumes<optim::RmsProp>({});
  check_resumes<optim::RmsProp>({.momentum = 0.9, .weight_decay = 0.1, .centered = true});
  check_resumes<optim::Adagrad>({.lr = 0.1, .lr_decay = 0.1, .initial_accumulator = 0.1});
}

TEST_CASE(
    "TRN4: state that is missing, not expected or misshapen is one error, and changes nothing") {
  Walk walk(DType::f64);
  Adam adam(walk.named());
  walk.steps(adam, 1, 5);
  optim::NamedTensors wrong = adam.state();
  REQUIRE(names(wrong) == std::vector<std::string>{"steps", "w.steps", "w.mean", "w.variance",
                                                   "b.steps", "b.mean", "b.variance"});
  wrong[3].first = "w.varience";
  wrong[5].second = zeros({4}, DType::f64);
  const test::TemporaryDirectory folder;
  nn::save_named(folder / "wrong", wrong, {});
  Adam fresh(walk.named());
  std::string message;
  try {
    nn::load(folder / "wrong", fresh);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("'w.variance' is missing") != std::string::npos);
  CHECK(message.find("'w.varience' is not expected") != std::string::npos);
  CHECK(message.find("'b.mean' is f64 [4] in the file, f64 [5]") != std::string::npos);
  CHECK(fresh.steps() == 0);
  CHECK(fresh.state()[2].second.at({0, 0}) == 0);
}

TEST_CASE("groups have their own options; lr_factor multiplies the lr of each") {
  Tensor w = leaf({1}), b = leaf({1});
  const std::vector<Sgd::Group> groups = {{{w}, {.lr = 0.5, .weight_decay = 0.2}},
                                          {{b}, {.lr = 0.25}}};
  Sgd sgd(groups);
  w.set_grad(tensor({1}, DType::f64));
  b.set_grad(tensor({1}, DType::f64));
  sgd.step(0.5);
  CHECK(w.item() == doctest::Approx(1 - 0.25 * 1.2));
  CHECK(b.item() == doctest::Approx(1 - 0.125));
  sgd.options(1).lr = 2;
  sgd.step();
  CHECK(b.item() == doctest::Approx(1 - 0.125 - 2));
  CHECK_THROWS_WITH_AS(sgd.options(2), "Sgd: there is no group 2, only 2", Error);
  CHECK_THROWS_AS(sgd.step(-1), Error);
  CHECK_THROWS_AS(sgd.step(std::nan("")), Error);
  CHECK_THROWS_AS(Sgd({{{w}, {.lr = 0.1}}, {{b}, {.lr = -0.1}}}), Error);
  sgd.options().lr = -1;
  CHECK_THROWS_AS(sgd.step(), Error);
  CHECK(sgd.steps() == 2);
  CHECK(b.item() == doctest::Approx(1 - 0.125 - 2));
  CHECK_THROWS_WITH_AS(Sgd(std::vector<Tensor>{}), "Sgd: there are no parameters", Error);
}

TEST_CASE(
    "TYE1, TYE3: a tied weight moves once a step, by the sum of its uses, and is saved once") {
  const Tensor w = leaf({3});
  Sgd sgd(optim::NamedTensors{{"in", w}, {"out", w}}, {.lr = 0.1, .momentum = 0.5});
  sum(w * 2.0 + w * 5.0).backward();
  sgd.step();
  CHECK(w.item() == doctest::Approx(3 - 0.1 * 7));
  CHECK(names(sgd.state()) == std::vector<std::string>{"steps", "in.steps", "in.velocity"});
}

TEST_CASE("parameters without a gradient stay and count no step; zero_grad forgets") {
  Tensor p = leaf({1}), q = leaf({1});
  Adam adam({p, q}, {.lr = 0.1, .weight_decay = 0.5, .decoupled = true});
  p.set_grad(tensor({1}, DType::f64));
  adam.step();
  CHECK(p.item() != 1);
  CHECK(q.item() == 1);
  for (const auto& [name, tensor] : adam.state()) {
    if (name == "0.steps") CHECK(tensor.item() == 1);
    if (name == "1.steps") CHECK(tensor.item() == 0);
  }
  adam.zero_grad();
  CHECK_FALSE(p.grad().defined());
}

TEST_CASE("TRN1: micro-batches of 10 and 2 tokens add up to the mean of all 12") {
  Rng rng(1);
  const Tensor x = randn({12, 3}, rng, DType::f64), targets = randint(0, 4, {12}, rng);
  Tensor whole = zeros({3, 4}, DType::f64).requires_grad_();
  Tensor parts = zeros({3, 4}, DType::f64).requires_grad_();
  Sgd sgd({whole, parts}, {.lr = 0.1});
  cross_entropy(matmul(x, whole), targets).backward();
  for (const auto& [begin, end] : {std::pair{0, 10}, std::pair{10, 12}}) {
    const Tensor logits = matmul(slice(x, 0, begin, end), parts);
    const Tensor loss =
        cross_entropy(logits, slice(targets, 0, begin, end), {.reduction = Reduction::sum});
    (loss / 12.0).backward();
  }
  sgd.step();
  CHECK(max(abs(whole - parts)).item() < 1e-15);
  CHECK(max(abs(whole)).item() > 1e-3);
}

TEST_CASE("RNG3: steps have the same bits for 1 and 3 threads") {
  const int before = num_threads();
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    Rng rng(1);
    Tensor p = randn({40001}, rng).requires_grad_();
    Adam adam({p}, {.lr = 0.1, .weight_decay = 0.1});
    for (int step = 0; step < 3; ++step) {
      p.set_grad(randn({40001}, rng));
      adam.step();
    }
    results.push_back(p.to_vector<float>());
  }
  set_num_threads(before);
  CHECK(results[0] == results[1]);
}

TEST_CASE("a gradient with a history is followed like its numbers, and nothing is recorded") {
  Tensor p = leaf({1, 2}), q = leaf({1, 2});
  Sgd sgd({p}, {.lr = 0.1});
  const Tensor gradient = transpose(q * 3.0 * ones({2, 2}, DType::f64), 0, 1);
  p.set_grad(select(gradient, 1, 1));
  sgd.step();
  CHECK(p.at({0}) == doctest::Approx(0.7));
  CHECK(p.at({1}) == doctest::Approx(1.4));
  CHECK(p.is_leaf());
}
