// Speed of conv2d and max_pool2d, forward and backward. tests/bench/convolution_against_torch.py
// runs it beside the same in PyTorch.
#include <benchmark/benchmark.h>

#include "core/ops.h"

namespace gradzoo {
namespace {

// Arguments: batch, channels, height, width, outputs, kernel height, kernel width, stride, groups;
// the padding is half the kernel.
void convolution(benchmark::State& state) {
  const auto arg = [&](int i) { return state.range(i); };
  Rng rng(1);
  const Tensor x = randn({arg(0), arg(1), arg(2), arg(3)}, rng).requires_grad_();
  const Tensor weight = randn({arg(4), arg(1) / arg(8), arg(5), arg(6)}, rng).requires_grad_();
  const Tensor bias = randn({arg(4)}, rng).requires_grad_();
  const Conv2dOptions options{
      .stride = arg(7), .padding = {arg(5) / 2, arg(6) / 2}, .groups = arg(8)};
  const Tensor upstream = ones_like(conv2d(x, weight, bias, options).detach());
  for (auto _ : state) {
    for (Tensor leaf : {x, weight, bias}) leaf.zero_grad();
    conv2d(x, weight, bias, options).backward(upstream);
  }
}
BENCHMARK(convolution)
    ->Args({8, 64, 32, 32, 64, 1, 1, 1, 1})
    ->Args({16, 16, 8, 8, 16, 1, 1, 1, 1})
    ->Args({8, 3, 28, 28, 16, 3, 3, 1, 1})
    ->Args({8, 16, 14, 14, 32, 3, 3, 1, 1})
    ->Args({16, 64, 16, 16, 64, 3, 3, 1, 1})
    ->Args({4, 64, 56, 56, 64, 3, 3, 1, 1})
    ->Args({16, 32, 32, 32, 64, 3, 3, 2, 1})
    ->Args({8, 64, 32, 32, 64, 3, 3, 1, 64})
    ->Args({8, 64, 32, 32, 64, 3, 3, 1, 4})
    ->Args({32, 64, 1, 100, 64, 1, 3, 1, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace gradzoo

BENCHMARK_MAIN();
