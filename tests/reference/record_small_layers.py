"""Records normalisations of PyTorch, in the format of record.py.

usage: record_small_layers.py        (by hand; needs torch and safetensors)
"""

import torch
from torch import nn

from record import randomize, record


def rms_norm():
    module = nn.RMSNorm(5, eps=1e-6)
    randomize(module)
    record("rms_norm", module, [torch.randn(2, 3, 5) * 3 + 1], lambda m, x: m(x))


if __name__ == "__main__":
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    rms_norm()
