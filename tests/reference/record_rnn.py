"""Records PyTorch's recurrent layers; see record.py, whose layout the files have.

usage: record_rnn.py        (by hand; needs torch and safetensors)

Two layers in both directions over sequences of unequal lengths. `output` holds what the layer gives
for each step, [batch, time, 2 * hidden], and the final states in one row each, side by side:
[output, state...] are flattened and joined, so that one upstream reaches all of them.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from record import randomize, record

LENGTHS = torch.tensor([3, 5, 1, 4])


def padded(module, x, *state):
    packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    initial = state if len(state) > 1 else state[0]
    output, final = module(packed, initial)
    output, _ = pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])
    finals = final if isinstance(final, tuple) else (final,)
    return torch.cat([output.flatten(), *(s.flatten() for s in finals)])


if __name__ == "__main__":
    torch.manual_seed(2)
    torch.set_default_dtype(torch.float64)
    options = {"num_layers": 2, "bidirectional": True, "batch_first": True}
    kinds = {
        "rnn_tanh": (nn.RNN(3, 2, **options), 1),
        "rnn_relu": (nn.RNN(3, 2, nonlinearity="relu", **options), 1),
        "lstm": (nn.LSTM(3, 2, **options), 2),
        "gru": (nn.GRU(3, 2, **options), 1),
    }
    for name, (module, states) in kinds.items():
        randomize(module)
        state = [torch.randn(4, 4, 2) for _ in range(states)]
        record(name, module, [torch.randn(4, 6, 3), *state], padded, {"lengths": LENGTHS})
