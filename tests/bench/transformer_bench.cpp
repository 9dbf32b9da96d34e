// Speed of a training step of the encoder-decoder Transformer: forward, backward, clipping, Adam.
// tests/bench/against_torch.py runs it beside the same step in PyTorch.
#include <benchmark/benchmark.h>

#include "core/ops.h"
#include "models/transformer.h"
#include "nn/module.h"
#include "optim/adam.h"
#include "optim/clip.h"

namespace gradzoo {
namespace {

constexpr std::int64_t kBatch = 64, kVocab = 24;

// Arguments: d_model, d_ff, layers on each side, tokens of source and target.
void training_step(benchmark::State& state) {
  const std::int64_t time = state.range(3);
  Rng rng(1);
  const models::Transformer model({.source_vocab = kVocab,
                                   .target_vocab = kVocab,
                                   .d_model = state.range(0),
                                   .num_heads = 4,
                                   .num_encoder_layers = state.range(2),
                                   .num_decoder_layers = state.range(2),
                                   .d_ff = state.range(1),
                                   .dropout = 0,
                                   .norm_first = true,
                                   .max_length = time},
                                  rng);
  const Tensor source = randint(4, kVocab, {kBatch, time}, rng);
  const Tensor lengths = randint(time / 2, time + 1, {kBatch}, rng);
  const Tensor target = randint(4, kVocab, {kBatch, time}, rng);
  const std::vector<Tensor> parameters = nn::parameters(model);
  optim::Adam adam(parameters, {.lr = 1e-3});
  for (auto _ : state) {
    adam.zero_grad();
    cross_entropy(model(source, lengths, target), target).backward();
    optim::clip_grad_norm(parameters, 1);
    adam.step();
  }
}
BENCHMARK(training_step)
    ->Args({64, 256, 2, 20})
    ->Args({256, 1024, 3, 40})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace gradzoo

BENCHMARK_MAIN();
