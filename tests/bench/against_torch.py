"""A training step of the Transformer here and in PyTorch, in turn, as ratios within one run.

usage: against_torch.py BUILD/tests/bench/transformer_bench [ROUNDS]

Needs PyTorch (CPU). Both use all cores, the same sizes, float32, Adam and clipping to norm 1.
"""

import json
import statistics
import subprocess
import sys
import time

import torch

BATCH, VOCAB = 64, 24
SIZES = [(64, 256, 2, 20), (256, 1024, 3, 40)]  # d_model, d_ff, layers on each side, tokens


class Model(torch.nn.Module):
    def __init__(self, d_model, d_ff, layers):
        super().__init__()
        self.source = torch.nn.Embedding(VOCAB, d_model)
        self.target = torch.nn.Embedding(VOCAB, d_model)
        self.transformer = torch.nn.Transformer(d_model, 4, layers, layers, d_ff, dropout=0.0,
                                                norm_first=True, batch_first=True)
        self.generator = torch.nn.Linear(d_model, VOCAB)

    def forward(self, source, hidden, target, causal, positions):
        x = self.source(source) * source.shape[-1] ** 0.5 + positions
        y = self.target(target) * source.shape[-1] ** 0.5 + positions
        return self.generator(self.transformer(x, y, tgt_mask=causal, src_key_padding_mask=hidden,
                                               memory_key_padding_mask=hidden, tgt_is_causal=True))


def torch_seconds(d_model, d_ff, layers, tokens, steps):
    torch.manual_seed(1)
    model = Model(d_model, d_ff, layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    source = torch.randint(4, VOCAB, (BATCH, tokens))
    target = torch.randint(4, VOCAB, (BATCH, tokens))
    lengths = torch.randint(tokens // 2, tokens + 1, (BATCH, 1))
    hidden = torch.arange(tokens) >= lengths
    causal = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    positions = torch.randn(tokens, d_model)
    for step in range(steps + 3):
        if step == 3:  # warmed up
            start = time.perf_counter()
        optimizer.zero_grad()
        logits = model(source, hidden, target, causal, positions)
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return (time.perf_counter() - start) / steps


def our_seconds(program, size):
    name = "training_step/" + "/".join(map(str, size)) + "/real_time"
    output = subprocess.run([program, f"--benchmark_filter=^{name}$", "--benchmark_format=json",
                             "--benchmark_min_time=1"], check=True, stdout=subprocess.PIPE)
    return json.loads(output.stdout)["benchmarks"][0]["real_time"] / 1000


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    for size in SIZES:
        steps = 60 if size[0] == 64 else 8
        pairs = [(our_seconds(program, size), torch_seconds(*size, steps)) for _ in range(rounds)]
        ours, theirs = (statistics.median(column) for column in zip(*pairs))
        ratio = statistics.median(t / o for o, t in pairs)
        print(f"d_model {size[0]}, d_ff {size[1]}, {size[2]}+{size[2]} layers, {size[3]} tokens: "
              f"{1000 * ours:.1f} ms here, {1000 * theirs:.1f} ms in PyTorch, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
