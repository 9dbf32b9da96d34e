"""Records convolutions and pooling of PyTorch, in the format of record.py.

usage: record_conv.py        (by hand; needs torch and safetensors)
"""

import torch
from torch import nn

from record import randomize, record


def convolutions():
    cases = {
        "conv1d": (nn.Conv1d(2, 3, 3), (2, 2, 6)),
        "conv1d_options": (nn.Conv1d(4, 2, 3, stride=2, padding=2, dilation=2, groups=2),
                           (2, 4, 8)),
        "conv2d": (nn.Conv2d(2, 3, (2, 3)), (2, 2, 4, 5)),
        "conv2d_options": (nn.Conv2d(4, 6, (3, 2), stride=(2, 3), padding=(1, 2),
                                     dilation=(2, 1), groups=2, bias=False), (2, 4, 8, 6)),
        "conv_transpose2d": (nn.ConvTranspose2d(2, 3, (2, 3)), (2, 2, 3, 4)),
        "conv_transpose2d_options": (
            nn.ConvTranspose2d(4, 6, (3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2),
                               dilation=(2, 1), groups=2), (2, 4, 3, 2)),
    }
    for name, (module, shape) in cases.items():
        randomize(module)
        record(name, module, [torch.randn(shape)], lambda m, x: m(x))


def pooling():
    cases = {
        "max_pool1d": (nn.MaxPool1d(3, stride=2, padding=1), (2, 3, 8)),
        "max_pool2d": (nn.MaxPool2d((3, 2), stride=(1, 2), padding=(1, 0), dilation=(1, 2)),
                       (2, 2, 5, 6)),
        "avg_pool1d": (nn.AvgPool1d(2), (2, 3, 7)),
        "avg_pool2d": (nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 1)), (2, 2, 6, 4)),
        "avg_pool2d_inside": (nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 1),
                                           count_include_pad=False), (2, 2, 6, 4)),
        "upsample_nearest2d": (nn.Upsample(scale_factor=(2, 3)), (2, 2, 2, 3)),
        "glu": (nn.GLU(1), (2, 6, 3)),
    }
    for name, (module, shape) in cases.items():
        record(name, module, [torch.randn(shape)], lambda m, x: m(x))


if __name__ == "__main__":
    torch.manual_seed(6)
    torch.set_default_dtype(torch.float64)
    convolutions()
    pooling()
