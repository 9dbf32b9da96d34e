// Speed of a step of Adam and of clipping. tests/bench/optim_against_torch.py runs it beside
// PyTorch's.
#include <benchmark/benchmark.h>

#include "core/ops.h"
#include "optim/adam.h"
#include "optim/clip.h"

namespace gradzoo {
namespace {

// Arguments: number of parameters, numbers in each.
std::vector<Tensor> parameters_for(const benchmark::State& state) {
  Rng rng(1);
  std::vector<Tensor> parameters;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    parameters.push_back(randn({state.range(1)}, rng).requires_grad_());
    parameters.back().set_grad(randn({state.range(1)}, rng));
  }
  return parameters;
}

void adam(benchmark::State& state) {
  optim::Adam optimizer(parameters_for(state), {.lr = 1e-4});
  for (auto _ : state) optimizer.step();
}

void clip(benchmark::State& state) {
  const std::vector<Tensor> parameters = parameters_for(state);
  for (auto _ : state) benchmark::DoNotOptimize(optim::clip_grad_norm(parameters, 1e9));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({4, 1'000'000})->Args({200, 4096})->Args({1000, 64});
  benchmark->Unit(benchmark::kMicrosecond)->UseRealTime();
}
BENCHMARK(adam)->Apply(sizes);
BENCHMARK(clip)->Apply(sizes);

}  // namespace
}  // namespace gradzoo

BENCHMARK_MAIN();
