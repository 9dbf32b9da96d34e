"""A step of Adam, and the norm of all gradients, here and in PyTorch, as ratios within one run.

usage: optim_against_torch.py BUILD/tests/bench/optim_bench [ROUNDS]

Needs PyTorch (CPU). PyTorch's Adam as it is by default, with foreach and fused; the fastest round
of each counts, since other programs can only slow a round down.
"""

import json
import subprocess
import sys
import time

import torch

SIZES = [(4, 1_000_000), (200, 4096), (1000, 64)]  # parameters, numbers in each


def our_microseconds(program):
    output = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.005",
                             "--benchmark_repetitions=20"], check=True, stdout=subprocess.PIPE)
    times = {}
    for bench in json.loads(output.stdout)["benchmarks"]:
        if bench["run_type"] == "iteration":
            name = bench["run_name"].replace("/real_time", "")
            times[name] = min(times.get(name, float("inf")), bench["real_time"])
    return times


def torch_microseconds(count, size):
    parameters = [torch.randn(size, requires_grad=True) for _ in range(count)]
    for parameter in parameters:
        parameter.grad = torch.randn(size)
    options = {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    calls = {f"adam {name}": torch.optim.Adam(parameters, lr=1e-4, **extra).step
             for name, extra in options.items()}
    calls["clip default"] = lambda: torch.nn.utils.clip_grad_norm_(parameters, 1e9)
    times = {}
    for name, call in calls.items():
        call()  # makes the state
        fastest = float("inf")
        for _ in range(20):
            start = time.perf_counter()
            call()
            fastest = min(fastest, time.perf_counter() - start)
        times[name] = 1e6 * fastest
    return times


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    ours, theirs = [], {size: [] for size in SIZES}
    for _ in range(rounds):
        ours.append(our_microseconds(program))
        for size in SIZES:
            theirs[size].append(torch_microseconds(*size))
    for count, size in SIZES:
        for name in theirs[count, size][0]:
            what, kind = name.split()
            here = min(times[f"{what}/{count}/{size}"] for times in ours)
            there = min(times[name] for times in theirs[count, size])
            print(f"{count} x {size}: {what} {here:.0f} us here, {there:.0f} us in PyTorch "
                  f"({kind}), ratio {there / here:.1f}")


if __name__ == "__main__":
    main()
