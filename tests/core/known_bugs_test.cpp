// Public bug reports of other engines, as tests of this one: those about graphs, accumulation,
// ownership and memory. The name of a test quotes the report's id. The others live with what they
// are about, under tests/core:
//   ops/softmax_test     MSK1 MSK3 MSK5 MSK7 SCE1      ops/unary_test     TIE5 TIE7 GLU1 GLU3 SCE9
//   ops/loss_test        SCE4 SCE5 SCE7 LSM1 to LSM6   ops/compare_test   WHR1 WHR3
//   ops/norm_test        LNM1 LNM3 LNM5                ops/dropout_test   DRP1 DRP3 DRP4
//   ops/binary_test      TIE1 TIE3 ZER2 ZER4 BRD1 BRD3 EMP3
//   ops/moments_test     MSK3 ZER1 ZER9                ops/product_test   ZER7
//   ops/reduce_test      SUM1 SUM3 BRD3 BRD5 BRD6 EMP3 ops/index_test     IDX1 IDX2 IDX4 IDX6
//   ops/matmul_test      EMP1 EMP5 BLS2 to BLS10       ops/einsum_test    EIN1 EIN3
//   ops/order_test       TOP1                          ops/view_test      EMP3 EMP5
//   serialize_test       SFT2 SFT4 SFT6 SFT7 VIW5      shape_test         OVF1
//   file_test            TRN7                          random_test        RNG1
//   serialize_header_test  SFT1
//   tensor_test          VIW1 VIW3 INP1 INP3           ops/conv_test      CNV1 CNV3
#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "core/autograd.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/threads.h"

using namespace gradzoo;

namespace {

Tensor leaf(const Nested& values, DType dtype = DType::f64) {
  return Tensor(tensor(values, dtype)).requires_grad_();
}

std::vector<double> list(const Tensor& x) { return x.to_vector<double>(); }

// Runs f on a thread with a stack of this many bytes.
void on_stack_of(std::size_t bytes, std::function<void()> f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread;
  const auto call = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, call, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

constexpr std::size_t kSmallStack = 512 * 1024;

}  // namespace

TEST_CASE("MSK1: attention with a query that sees no key, by single ops") {
  // Embed 1, one head: queries, keys and values are x times a weight each.
  Rng rng(1);
  const Tensor x = rand({2, 4, 1}, rng, DType::f64);
  const Tensor wq = leaf({{0.7}}), wk = leaf({{-0.4}}), wv = leaf({{1.3}});
  // True = may attend. Row 3 of item 1 would see keys 2 and 3, which are padding.
  const Tensor allowed =
      tensor({{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}}, DType::boolean);
  const Tensor present = tensor({{{1, 1, 1, 1}}, {{1, 1, 0, 0}}}, DType::boolean);
  const Tensor scores = matmul(matmul(x, wq), transpose(matmul(x, wk)));
  const Tensor weights = softmax(scores, logical_and(allowed, present));
  const Tensor y = matmul(weights, matmul(x, wv));
  sum(y * rand(y.shape(), rng, DType::f64)).backward();
  CHECK(list(select(select(weights, 0, 1), 0, 3)) == std::vector<double>{0, 0, 0, 0});
  CHECK(y.at({1, 3, 0}) == 0);
  for (const Tensor& w : {wq, wk, wv}) {
    CHECK(std::isfinite(w.grad().item()));
    CHECK(w.grad().item() != 0);
  }
}

TEST_CASE("WHR5: the norm of a zero row replaced by 1 gives a zero gradient") {
  const Tensor x = leaf({{1, 2}, {3, 4}, {0, 0}});
  const Tensor size = norm(x, {1});
  sum(where(gt(size, 0.5), size, ones_like(size.detach()))).backward();
  const double r = std::sqrt(5.0);
  const std::vector<double> wanted = {1 / r, 2 / r, 0.6, 0.8, 0, 0};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(list(x.grad())[i] == doctest::Approx(wanted[i]).epsilon(1e-14));
  }
}

TEST_CASE("INP1: x += 1 between y = x @ w and backward is refused, also through a view") {
  const Tensor x = leaf({{1, 2}, {3, 4}}), w = leaf({{1, 0}, {1, 1}});
  const Tensor y = matmul(x, w);
  SUBCASE("the tensor itself") { assign(x, x.detach() + 1.0); }
  SUBCASE("a view of one row") {
    const Tensor row = select(x.detach(), 0, 1);
    assign(row, row + 1.0);
  }
  try {
    sum(y).backward();
    FAIL("a wrong gradient without a word");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("backward of 'matmul': a value it saved was overwritten") == 0);
    CHECK(text.find("version 1, saved at 0") != std::string::npos);
  }
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("INP3: renorming an embedding's rows in place counts as a change, under NoGrad too") {
  const Tensor table = leaf({{3, 4}, {1, 0}});
  const Tensor ids = tensor({0, 1, 0}, DType::i64);
  const Tensor y = sum(embedding(table, ids) * embedding(table, ids));
  const Tensor logits = matmul(embedding(table, ids), transpose(table));  // tied output weights
  {
    const NoGrad no_grad;
    const Tensor size = norm(table, {1}, true);
    assign(table, table / maximum(size, ones_like(size)));
  }
  CHECK_THROWS_AS(sum(logits).backward(), Error);
  // embedding itself needs only the ids: what mul saved are copies of rows, still what they were.
  y.backward();
  CHECK(list(table.grad()) == std::vector<double>{12, 16, 2, 0});
}

TEST_CASE("DEP1: y = y + y * t 65,461 times, then dropped, on a stack of 512 KiB") {
  const std::size_t before = memory::live_bytes();
  on_stack_of(kSmallStack, [] {
    const Tensor t = leaf({1e-6}, DType::f32);
    Tensor y = leaf({1.0}, DType::f32);
    for (int i = 0; i < 65'461; ++i) y = y + y * t;
  });
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("DEP1, DEP3: 1,000,000 nodes forward, backward and freed on a stack of 512 KiB") {
  const std::size_t before = memory::live_bytes();
  on_stack_of(kSmallStack, [] {
    const Tensor t = leaf({1e-6}), x = leaf({1.0});
    Tensor y = x;
    for (int i = 0; i < 500'000; ++i) y = y + y * t;
    y.backward();
    // y = (1 + t)^n: the derivative with respect to t is n y / (1 + t).
    CHECK(x.grad().item() == doctest::Approx(std::exp(0.5)).epsilon(1e-6));
    CHECK(t.grad().item() == doctest::Approx(500'000 * std::exp(0.5)).epsilon(1e-5));
  });
  CHECK(memory::live_bytes() == before);
  on_stack_of(kSmallStack, [] {
    const Tensor x = leaf({1.0}), zero = tensor({0.0}, DType::f64);
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y + zero;
    CHECK(graph_nodes({y}).size() == 1'000'001);
    y.backward();
    CHECK(x.grad().item() == 1);
  });
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("ACC1: b = a + a, c = b + b: the gradient of a is 4") {
  const Tensor a = leaf({3.0});
  const Tensor b = a + a;
  const Tensor c = b + b;
  c.backward();
  CHECK(a.grad().item() == 4);
}

TEST_CASE("ACC3: gradients of 30 layers are the same whether or not memory can be reused") {
  Rng rng(2);
  std::vector<Tensor> weights;
  for (int i = 0; i < 30; ++i) {
    weights.push_back(Tensor(randn({8, 8}, rng, DType::f64) * 0.4).detach().requires_grad_());
  }
  const Tensor input = randn({4, 8}, rng, DType::f64);
  const auto gradients = [&](bool keep_all) {
    std::vector<Tensor> kept;
    Tensor x = input;
    for (Tensor& w : weights) {
      w.zero_grad();
      const Tensor h = tanh(matmul(x, w));
      x = x + h;  // each layer's output is used twice further on
      if (keep_all) kept.insert(kept.end(), {h, x});
    }
    mean(x * x).backward();
    std::vector<double> all;
    for (const Tensor& w : weights) {
      for (const double g : list(w.grad())) all.push_back(g);
    }
    return all;
  };
  memory::trim();
  const auto pinned = gradients(true);
  CHECK(pinned == gradients(false));
  CHECK(pinned == gradients(false));  // with a pool full of freed blocks
}

TEST_CASE("ACC5: the gradient at an inner node equals its finite difference") {
  const Tensor x = leaf({0.3, -0.8});
  const auto tail = [](const Tensor& h) { return sum(h * exp(h) + tanh(h) * h); };
  const Tensor h = sin(x) * x;  // used by several ops
  const Tensor g = grad({tail(h)}, {h})[0];
  for (int i = 0; i < 2; ++i) {
    const double eps = 1e-6;
    const Tensor step = tensor({i == 0 ? eps : 0, i == 1 ? eps : 0}, DType::f64);
    const Tensor at = h.detach();
    const double numeric = (tail(at + step).item() - tail(at - step).item()) / (2 * eps);
    CHECK(g.at({i}) == doctest::Approx(numeric).epsilon(1e-8));
  }
}

TEST_CASE("TYE1: a weight shared by two heads moves once, by the sum of both gradients") {
  const Tensor w = leaf({{1.0, 2.0}});
  const Tensor alias = w;  // the second head's handle
  const Tensor a = tensor({{1, 1}}, DType::f64), b = tensor({{10, 20}}, DType::f64);
  (sum(linear(a, w)) + sum(linear(b, alias))).backward();
  CHECK(list(w.grad()) == std::vector<double>{11, 21});
  assign(w, w.detach() - w.grad() * 0.5);
  CHECK(list(w) == std::vector<double>{-4.5, -8.5});
  CHECK(list(alias) == list(w));
  CHECK(alias.node() == w.node());
}

TEST_CASE("MEM1: 100,000 steps that overwrite a leaf leave the memory flat") {
  Tensor w = leaf({1.0, 2.0});
  std::size_t after_first = 0;
  for (int i = 0; i < 100'000; ++i) {
    w.zero_grad();
    sum(w * w).backward();
    assign(w, w.detach() - w.grad() * 1e-6);
    if (i == 0) after_first = memory::live_bytes();
  }
  CHECK(memory::live_bytes() == after_first);
  CHECK(w.at({0}) == doctest::Approx(std::exp(-0.2)).epsilon(1e-5));
}

TEST_CASE("MEM3: 100,000 forward passes without a backward leave the memory flat") {
  const Tensor x = leaf({1.0, 2.0});
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  for (int i = 0; i < 100'000; ++i) {
    // Ops that save their output, their inputs, and an inner value.
    const Tensor y = softmax(layer_norm(exp(x) * x));
    CHECK_FALSE(y.is_leaf());
  }
  CHECK(memory::live_bytes() == before);
  CHECK(memory::peak_bytes() < before + 4096);
}

TEST_CASE("RNG3, RNG4: sums, products and gradients have the same bits for 1, 2 and 3 threads") {
  Rng rng(4);
  const Tensor data = randn({300, 257}, rng), column = randn({257, 65}, rng);
  const auto bits = [&] {
    const Tensor x = data.detach().requires_grad_();
    const Tensor y = softmax(layer_norm(matmul(tanh(x), column)));
    sum(y * y).backward();
    std::vector<float> all = x.grad().to_vector<float>();
    for (const Tensor& part : {sum(x.detach()), sum(x.detach(), {0}), y.detach()}) {
      for (const float value : part.to_vector<float>()) all.push_back(value);
    }
    return all;
  };
  const int before = num_threads();
  set_num_threads(1);
  const auto one = bits();
  for (const int threads : {2, 3, 3}) {
    set_num_threads(threads);
    CHECK(bits() == one);
  }
  set_num_threads(before);
}

TEST_CASE("BLS1: a product in the child of a fork completes") {
  const Tensor a = ones({8, 8});
  CHECK(sum(matmul(a, a)).item() == 512);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a child that hangs is ended, and seen below
    const double total = sum(matmul(a, a)).item();
    _exit(total == 512 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
