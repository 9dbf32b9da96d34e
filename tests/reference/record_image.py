"""Records self-attention on images, written with PyTorch's operations, in the format of record.py.

usage: record_image.py        (by hand; needs torch and safetensors)
"""

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from record import randomize, record
from record_small_layers import record_with_buffers


class ImageAttention(nn.Module):
    """SAGAN (Zhang et al. 2019): keys f, queries g, values h, and v that widens again."""

    def __init__(self, channels, inner, normalise):
        super().__init__()
        self.f, self.g, self.h = (normalise(nn.Conv2d(channels, inner, 1)) for _ in range(3))
        self.v = normalise(nn.Conv2d(inner, channels, 1))
        self.gamma = nn.Parameter(torch.zeros(1))

    def weights(self, x):
        return torch.softmax(torch.bmm(self.g(x).flatten(2).transpose(1, 2),
                                       self.f(x).flatten(2)), dim=-1)

    def forward(self, x):
        mixed = torch.bmm(self.h(x).flatten(2), self.weights(x).transpose(1, 2))
        return self.gamma * self.v(mixed.unflatten(2, x.shape[2:])) + x


def main():
    x = torch.randn(2, 4, 2, 3)
    plain = ImageAttention(4, 2, lambda conv: conv)
    randomize(plain)
    record("image_attention", plain, [x], lambda m, x: m(x), {"attention": plain.weights(x)})

    spectral = ImageAttention(4, 2, spectral_norm)
    randomize(spectral)
    record_with_buffers("image_attention_spectral", spectral, [x.detach().clone()],
                        lambda m, x: m(x))


if __name__ == "__main__":
    torch.manual_seed(7)
    torch.set_default_dtype(torch.float64)
    main()
