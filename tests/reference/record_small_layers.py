"""Records feed-forward layers and normalisations of PyTorch, in the format of record.py.

usage: record_small_layers.py        (by hand; needs torch and safetensors)
"""

import copy

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

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


def record_with_buffers(name, module, inputs, call):
    """record(), with buffers among the weights, and as after.NAME once the call has changed them."""
    twin = copy.deepcopy(module)
    call(twin, *inputs)
    extra = {f"weights.{key}": b.clone() for key, b in module.named_buffers()}
    extra |= {f"after.{key}": b for key, b in twin.named_buffers()}
    record(name, module, inputs, call, extra)


def batch_norm():
    cases = [("1d_train", nn.BatchNorm1d(3), (4, 3), True),
             ("1d_average", nn.BatchNorm1d(3, eps=1e-3, momentum=None), (2, 3, 4), True),
             ("1d_eval", nn.BatchNorm1d(3), (2, 3, 4), False),
             ("2d_train", nn.BatchNorm2d(2), (2, 2, 3, 2), True),
             ("2d_eval", nn.BatchNorm2d(2), (2, 2, 3, 2), False)]
    for name, module, shape, training in cases:
        randomize(module)
        module.running_mean.normal_()
        module.running_var.uniform_(0.5, 2)
        module.num_batches_tracked += 3
        module.train(training)
        record_with_buffers("batch_norm_" + name, module, [torch.randn(shape) * 3 + 1],
                            lambda m, x: m(x))


def spectral():
    for mode in ["train", "eval"]:
        module = nn.Linear(3, 4)
        randomize(module)
        module = spectral_norm(module, n_power_iterations=2)
        randomize(module)  # so that the singular vectors are not the right ones
        module.train(mode == "train")
        record_with_buffers("spectral_norm_" + mode, module, [torch.randn(2, 3)], lambda m, x: m(x))
    module = nn.ConvTranspose2d(2, 3, 2, bias=False)
    module = spectral_norm(module)
    randomize(module)
    record_with_buffers("spectral_norm_transposed", module, [], lambda m: m.weight)


if __name__ == "__main__":
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    rms_norm()
    feed_forward()
    batch_norm()
    spectral()
