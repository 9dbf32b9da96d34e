"""Recurrent layers here and in PyTorch, forward and backward, in turn, as ratios within one run.

usage: recurrent_against_torch.py BUILD/tests/bench/recurrent_bench [ROUNDS [LAYER...]]

Needs PyTorch (CPU). Both use OMP_NUM_THREADS threads, the same sizes, float32, batch first. A pair
is the best of several steps here and the best of as many there.
"""

import json
import statistics
import subprocess
import sys
import time

import torch

SIZES = [(1, 50, 128), (8, 50, 128), (32, 50, 128), (32, 50, 256), (32, 50, 512)]
STEPS = 10  # batch, time, width above


def torch_seconds(layer, batch, time_steps, width):
    torch.manual_seed(1)
    model = getattr(torch.nn, layer)(width, width, batch_first=True)
    x = torch.randn(batch, time_steps, width, requires_grad=True)
    upstream = torch.randn(batch, time_steps, width)
    best = float("inf")
    for _ in range(STEPS + 2):
        start = time.perf_counter()
        x.grad = None
        model.zero_grad()
        model(x)[0].backward(upstream)
        best = min(best, time.perf_counter() - start)
    return best


def our_seconds(program, layer, size):
    name = f"layer<nn::{layer}>/" + "/".join(map(str, size)) + "/real_time$"
    output = subprocess.run(
        [program, f"--benchmark_filter=^{name}", "--benchmark_format=json",
         "--benchmark_min_time=0.002", f"--benchmark_repetitions={STEPS}"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    runs = json.loads(output.stdout)["benchmarks"]
    return min(run["real_time"] for run in runs if run["run_type"] == "iteration") / 1000


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    for layer in sys.argv[3:] or ["LSTM", "GRU", "RNN"]:
        for size in SIZES:
            pairs = [(our_seconds(program, layer, size), torch_seconds(layer, *size))
                     for _ in range(rounds)]
            ours, theirs = (statistics.median(column) for column in zip(*pairs))
            ratio = statistics.median(t / o for o, t in pairs)
            print(f"{layer}, batch {size[0]}, {size[1]} steps, width {size[2]}: "
                  f"{1000 * ours:.2f} ms here, {1000 * theirs:.2f} ms in PyTorch, "
                  f"ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
