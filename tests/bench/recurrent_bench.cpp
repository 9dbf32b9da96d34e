// Speed of a recurrent layer: forward, and the gradients of inputs and weights.
// tests/bench/recurrent_against_torch.py runs it beside the same layer in PyTorch.
#include <benchmark/benchmark.h>

#include "core/ops.h"
#include "nn/module.h"
#include "nn/rnn.h"

namespace gradzoo {
namespace {

// Arguments: batch, time, width of inputs and states.
template <class Layer>
void layer(benchmark::State& state) {
  const std::int64_t batch = state.range(0), time = state.range(1), width = state.range(2);
  Rng rng(1);
  const Layer layer(width, width, rng);
  Tensor x = randn({batch, time, width}, rng).requires_grad_();
  const Tensor upstream = randn({batch, time, width}, rng);
  for (auto _ : state) {
    layer(x).output.backward(upstream);
    x.zero_grad();
    for (Tensor& weight : nn::parameters(layer)) weight.zero_grad();
  }
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Args({1, 50, 128})->Args({8, 50, 128})->Args({32, 50, 128})->Args({32, 50, 256});
  b->Args({32, 50, 512})->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK_TEMPLATE(layer, nn::LSTM)->Apply(sizes);
BENCHMARK_TEMPLATE(layer, nn::GRU)->Apply(sizes);
BENCHMARK_TEMPLATE(layer, nn::RNN)->Apply(sizes);

}  // namespace
}  // namespace gradzoo

BENCHMARK_MAIN();
