"""A convolution, forward and backward, here and in PyTorch, in turn, as ratios within one run.

usage: convolution_against_torch.py BUILD/tests/bench/convolution_bench [ROUNDS]

Needs PyTorch (CPU). Both use all cores, the same sizes, float32.
"""

import json
import statistics
import subprocess
import sys
import time

import torch

NAMES = ("batch", "channels", "height", "width", "outputs", "kernel height", "kernel width",
         "stride", "groups")


def torch_seconds(size):
    batch, channels, height, width, outputs, down, across, stride, groups = size
    torch.manual_seed(1)
    x = torch.randn(batch, channels, height, width, requires_grad=True)
    weight = torch.randn(outputs, channels // groups, down, across, requires_grad=True)
    bias = torch.randn(outputs, requires_grad=True)

    def convolve():
        return torch.nn.functional.conv2d(x, weight, bias, stride, (down // 2, across // 2), 1,
                                          groups)

    def step():
        x.grad = weight.grad = bias.grad = None
        convolve().backward(upstream)

    upstream = torch.ones_like(convolve())
    for _ in range(3):
        step()
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < 0.5:
        step()
        steps += 1
    return (time.perf_counter() - start) / steps


def our_seconds(program, name):
    output = subprocess.run([program, f"--benchmark_filter=^{name}$", "--benchmark_format=json",
                             "--benchmark_min_time=0.5"], check=True, stdout=subprocess.PIPE)
    return json.loads(output.stdout)["benchmarks"][0]["real_time"] / 1000


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    print(", ".join(NAMES))
    listed = subprocess.run([program, "--benchmark_list_tests"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    for name in listed:
        size = tuple(int(part) for part in name.split("/")[1:-1])
        pairs = [(our_seconds(program, name), torch_seconds(size)) for _ in range(rounds)]
        ours, theirs = (statistics.median(column) for column in zip(*pairs))
        ratio = statistics.median(t / o for o, t in pairs)
        print(f"{'x'.join(map(str, size[:4]))} -> {size[4]}, kernel {size[5]}x{size[6]}, "
              f"stride {size[7]}, groups {size[8]}: {1000 * ours:.3f} ms here, "
              f"{1000 * theirs:.3f} ms in PyTorch, ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
