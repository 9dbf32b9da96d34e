"""Records feed-forward layers and normalisations of PyTorch, in the format of record.py.

usage: record_small_layers.py        (by hand; needs torch and safetensors)
"""

import torch
from torch import nn

from record import randomize, record


def rms_norm():
    module = nn.RMSNorm(5, eps=1e-6)
    randomize(module)
    record("rms_norm", module, [torch.randn(2, 3, 5) * 3 + 1], lambda m, x: m(x))


class FeedForward(nn.Module):
    """linear2(activation(linear1(x))), gated by linear3(x) where there is one."""

    def __init__(self, activation, gated):
        super().__init__()
        self.activation = activation
        self.linear1 = nn.Linear(3, 4)
        self.linear2 = nn.Linear(4, 3)
        self.linear3 = nn.Linear(3, 4) if gated else None

    def forward(self, x):
        hidden = self.activation(self.linear1(x))
        return self.linear2(hidden if self.linear3 is None else hidden * self.linear3(x))


def feed_forward():
    for name, module in [("gelu", FeedForward(nn.functional.gelu, False)),
                         ("swiglu", FeedForward(nn.functional.silu, True))]:
        randomize(module)
        record("feed_forward_" + name, module, [torch.randn(2, 3)], lambda m, x: m(x))


if __name__ == "__main__":
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    rms_norm()
    feed_forward()
