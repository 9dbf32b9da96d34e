// Speed of products: square, thin, batched as in attention, a layer with its backward pass. The
// counter is floating-point operations a second.
#include <benchmark/benchmark.h>

#include "core/ops/matmul.h"
#include "core/ops/view.h"
#include "core/random.h"
#include "core/version.h"

namespace gradzoo {
namespace {

void count_flops(benchmark::State& state, double each) {
  state.counters["flops"] = benchmark::Counter(each, benchmark::Counter::kIsIterationInvariantRate,
                                               benchmark::Counter::kIs1000);
}

// Arguments: rows, columns, what is summed over; both operands as they are.
void matrices(benchmark::State& state) {
  const std::int64_t n = state.range(0), m = state.range(1), k = state.range(2);
  Rng rng(1);
  const Tensor a = randn({n, k}, rng), b = randn({k, m}, rng);
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b));
  count_flops(state, 2.0 * static_cast<double>(n * m * k));
}
BENCHMARK(matrices)
    ->Args({1, 64, 64})
    ->Args({1, 1024, 1024})
    ->Args({8, 8, 8})
    ->Args({64, 64, 64})
    ->Args({768, 64, 64})
    ->Args({768, 256, 64})
    ->Args({64, 64, 1280})
    ->Args({1280, 256, 64})
    ->Args({1024, 1024, 256})
    ->Args({1024, 1024, 1024});

// Arguments: batch, queries, keys, width of a head: the scores of attention.
void scores(benchmark::State& state) {
  const std::int64_t batch = state.range(0), n = state.range(1), m = state.range(2);
  const std::int64_t k = state.range(3);
  Rng rng(1);
  const Tensor q = randn({batch, n, k}, rng), keys = transpose(randn({batch, m, k}, rng));
  for (auto _ : state) benchmark::DoNotOptimize(matmul(q, keys));
  count_flops(state, 2.0 * static_cast<double>(batch * n * m * k));
}
BENCHMARK(scores)->Args({256, 20, 20, 16})->Args({64, 128, 128, 64})->Args({4, 512, 512, 64});

// Arguments: batch, queries, keys, width of a head: attention times values.
void mix(benchmark::State& state) {
  const std::int64_t batch = state.range(0), n = state.range(1), k = state.range(2);
  const std::int64_t m = state.range(3);
  Rng rng(1);
  const Tensor weights = randn({batch, n, k}, rng), values = randn({batch, k, m}, rng);
  for (auto _ : state) benchmark::DoNotOptimize(matmul(weights, values));
  count_flops(state, 2.0 * static_cast<double>(batch * n * m * k));
}
BENCHMARK(mix)->Args({256, 20, 20, 16})->Args({64, 128, 128, 64});

// Arguments: rows, inputs, outputs: forward, and the gradients of x, weight and bias.
void layer(benchmark::State& state) {
  const std::int64_t n = state.range(0), in = state.range(1), out = state.range(2);
  Rng rng(1);
  Tensor x = randn({n, in}, rng), weight = randn({out, in}, rng), bias = randn({out}, rng);
  x.requires_grad_();
  weight.requires_grad_();
  bias.requires_grad_();
  const Tensor upstream = randn({n, out}, rng);
  for (auto _ : state) {
    linear(x, weight, bias).backward(upstream);
    x.zero_grad();
    weight.zero_grad();
    bias.zero_grad();
  }
  count_flops(state, 6.0 * static_cast<double>(n * in * out));
}
BENCHMARK(layer)->Args({1280, 64, 64})->Args({1280, 64, 256})->Args({1024, 512, 512});

}  // namespace
}  // namespace gradzoo

int main(int argc, char** argv) {
  benchmark::AddCustomContext("gradzoo", gradzoo::version_info());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
