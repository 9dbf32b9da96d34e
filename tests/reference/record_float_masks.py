"""Records PyTorch's attention under float masks, in float64, as record.py does for layers.

usage: record_float_masks.py        (by hand; needs torch and safetensors)
"""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from record import randomize, record


def slopes(heads):
    """As in the authors' code: github.com/ofirpress/attention_with_linear_biases."""
    if heads & (heads - 1) == 0:
        return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    lower = 2 ** (heads.bit_length() - 1)
    return torch.cat([slopes(lower), slopes(2 * lower)[0::2][:heads - lower]])


def alibi(heads, queries, keys):
    places = torch.arange(keys - queries, keys)
    return -slopes(heads)[:, None, None] * (places[:, None] - torch.arange(keys)).abs()


def qkv():
    return [torch.randn(2, 3, 4, 2), torch.randn(2, 3, 5, 2), torch.randn(2, 3, 5, 3)]


if __name__ == "__main__":
    torch.manual_seed(2)
    torch.set_default_dtype(torch.float64)

    # Ordinary numbers, a place that may not be attended to, and a query that may attend to none.
    mask = torch.randn(3, 4, 5) * 2
    mask[0, 1, 2] = mask[1, 2, 4] = float("-inf")
    mask[2, 3] = float("-inf")
    record("float_mask", nn.Module(), qkv() + [mask],
           lambda m, q, k, v, mask: scaled_dot_product_attention(q, k, v, attn_mask=mask))

    record("float_mask_alibi", nn.Module(), qkv(),
           lambda m, q, k, v: scaled_dot_product_attention(q, k, v, attn_mask=alibi(3, 4, 5)))

    visible = (torch.arange(5) < torch.tensor([[5], [3]]))[:, None, None, :]
    record("float_mask_and_boolean", nn.Module(), qkv() + [torch.randn(1, 3, 4, 5)],
           lambda m, q, k, v, bias: scaled_dot_product_attention(
               q, k, v, attn_mask=torch.where(visible, bias, float("-inf"))),
           {"mask": visible})

    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomize(module)
    bias = torch.randn(5, 5).masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), float("-inf"))
    record("attention_float_mask", module, [torch.randn(2, 5, 8)],
           lambda m, x: m(x, x, x, attn_mask=bias, need_weights=False)[0], {"bias": bias})
