"""Records attention scores, and the weights of each head, in PyTorch.

usage: record_scores.py        (by hand; needs torch and safetensors)

See record.py for what a file holds. The output is context and weights (or scores) side by side,
so that the gradients of both are compared.
"""

import math

import torch
from torch import nn

from record import randomize, record


def both(context, weights):
    return torch.cat([context.flatten(1), weights.flatten(1)], 1)


def attention_weights():
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomize(module)
    record("attention_weights_self", module, [torch.randn(2, 5, 8)],
           lambda m, x: both(*m(x, x, x, attn_mask=~causal, average_attn_weights=False)),
           {"mask": causal})

    visible = torch.arange(6) < torch.tensor([[6], [3]])
    module = nn.MultiheadAttention(8, 4, bias=False, batch_first=True)
    randomize(module)
    record("attention_weights_cross", module, [torch.randn(2, 4, 8), torch.randn(2, 6, 8)],
           lambda m, x, y: both(*m(x, y, y, key_padding_mask=~visible,
                                   average_attn_weights=False)),
           {"mask": visible[:, None, None, :]})


class General(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(3, 4))

    def forward(self, query, keys):
        return torch.einsum("bqi,ij,bkj->bqk", query, self.weight, keys)


class ReducedRank(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_proj = nn.Linear(3, 2, bias=False)
        self.key_proj = nn.Linear(4, 2, bias=False)

    def forward(self, query, keys):
        return torch.einsum("bqr,bkr->bqk", self.query_proj(query), self.key_proj(keys))


class Additive(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_proj = nn.Linear(3, 5, bias=False)
        self.key_proj = nn.Linear(4, 5, bias=False)
        self.v = nn.Parameter(torch.empty(5))

    def forward(self, query, keys):
        pairs = self.query_proj(query)[:, :, None] + self.key_proj(keys)[:, None]
        return torch.tanh(pairs) @ self.v


def scores():
    """Softmax of the scores under a padding mask, the weighted sum of the values, and both."""
    visible = (torch.arange(5) < torch.tensor([[5], [2]]))[:, None, :]

    def attend(module, query, keys, values):
        weights = module(query, keys).masked_fill(~visible, -math.inf).softmax(-1)
        return both(weights @ values, weights)

    for name, module in {"general": General(), "reduced_rank": ReducedRank(),
                         "additive": Additive()}.items():
        randomize(module)
        record(f"score_{name}", module,
               [torch.randn(2, 3, 3), torch.randn(2, 5, 4), torch.randn(2, 5, 2)], attend,
               {"mask": visible})


if __name__ == "__main__":
    torch.manual_seed(31)
    torch.set_default_dtype(torch.float64)
    attention_weights()
    scores()
