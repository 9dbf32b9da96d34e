"""Records PyTorch's attention layers with their options, and whole state_dicts to load by name.

usage: record_attention.py        (by hand; needs torch and safetensors)

Layers as record.py does. state_NAME: the state_dict of a layer, as safetensors and nothing else;
state_outputs: NAME.input.N and NAME.output of each.
"""

import torch
from torch import nn

from record import randomize, record, save


def visible(lengths, size):
    return torch.arange(size) < torch.tensor(lengths)[:, None]


def attention():
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    real = visible([5, 2, 4], 5)
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomize(module)
    record("attention_masks", module, [torch.randn(3, 5, 8)],
           lambda m, x: m(x, x, x, attn_mask=~causal, key_padding_mask=~real,
                          need_weights=False)[0],
           {"mask": causal, "real": real})

    window = torch.ones(4, 6, dtype=torch.bool).tril(2).triu(-1)
    real = visible([6, 4], 6)
    for name, options in [("attention_kdim_vdim", {"kdim": 5, "vdim": 3}),
                          ("attention_vdim", {"vdim": 3, "bias": False})]:
        module = nn.MultiheadAttention(8, 4, batch_first=True, **options)
        randomize(module)
        record(name, module,
               [torch.randn(2, 4, 8), torch.randn(2, 6, module.kdim), torch.randn(2, 6, 3)],
               lambda m, q, k, v: m(q, k, v, attn_mask=~window, key_padding_mask=~real,
                                    need_weights=False)[0],
               {"mask": window, "real": real})

    # Key and value of one width, but two tensors.
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomize(module)
    record("attention_three", module, [torch.randn(2, 3, 8), torch.randn(2, 4, 8),
                                       torch.randn(2, 4, 8)],
           lambda m, q, k, v: m(q, k, v, need_weights=False)[0])

    # Six query heads, two of keys and values; as many queries as the last of the keys.
    mask = torch.ones(3, 5, dtype=torch.bool).tril(2)
    record("attention_shared_heads", nn.Module(),
           [torch.randn(2, 6, 3, 4), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 2)],
           lambda m, q, k, v: nn.functional.scaled_dot_product_attention(
               q, k, v, attn_mask=mask, enable_gqa=True))


def transformer_layers():
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    real, memory_real = visible([4, 2, 3], 4), visible([5, 1, 4], 5)
    for norm_first in [False, True]:
        kind = "pre" if norm_first else "post"
        options = {"dim_feedforward": 6, "dropout": 0.0, "batch_first": True,
                   "norm_first": norm_first, "activation": "gelu"}
        encoder = nn.TransformerEncoderLayer(8, 2, **options)
        randomize(encoder)
        record(f"encoder_layer_masks_{kind}", encoder, [torch.randn(3, 4, 8)],
               lambda m, x: m(x, src_mask=~causal, src_key_padding_mask=~real),
               {"mask": causal, "real": real})
        decoder = nn.TransformerDecoderLayer(8, 2, **options)
        randomize(decoder)
        record(f"decoder_layer_masks_{kind}", decoder,
               [torch.randn(3, 4, 8), torch.randn(3, 5, 8)],
               lambda m, x, y: m(x, y, tgt_mask=~causal, tgt_key_padding_mask=~real,
                                 memory_key_padding_mask=~memory_real),
               {"mask": causal, "real": real, "memory_real": memory_real})


def states():
    cases = {
        "attention": (nn.MultiheadAttention(4, 2, batch_first=True), [torch.randn(2, 3, 4)],
                      lambda m, x: m(x, x, x)[0]),
        "attention_kdim": (nn.MultiheadAttention(4, 2, kdim=3, batch_first=True),
                           [torch.randn(2, 3, 4), torch.randn(2, 5, 3), torch.randn(2, 5, 4)],
                           lambda m, q, k, v: m(q, k, v)[0]),
        "encoder_layer": (nn.TransformerEncoderLayer(4, 2, 6, batch_first=True),
                          [torch.randn(2, 3, 4)], lambda m, x: m(x)),
        "lstm": (nn.LSTM(3, 2, num_layers=2, bidirectional=True, batch_first=True),
                 [torch.randn(2, 4, 3)], lambda m, x: m(x)[0]),
        "layer_norm": (nn.LayerNorm(5), [torch.randn(2, 5)], lambda m, x: m(x)),
        "conv2d": (nn.Conv2d(2, 3, (2, 3)), [torch.randn(2, 2, 4, 5)], lambda m, x: m(x)),
        "batch_norm2d": (nn.BatchNorm2d(3), [torch.randn(2, 3, 2, 2)], lambda m, x: m(x)),
        "linear": (nn.Linear(3, 4), [torch.randn(2, 3)], lambda m, x: m(x)),
        "embedding": (nn.Embedding(6, 3, padding_idx=1), [torch.tensor([[4, 1], [0, 4]])],
                      lambda m, x: m(x)),
        "rms_norm": (nn.RMSNorm(5, eps=1e-6), [torch.randn(2, 5)], lambda m, x: m(x)),
        "rnn": (nn.RNN(3, 2, nonlinearity="relu", bias=False, batch_first=True),
                [torch.randn(2, 4, 3)], lambda m, x: m(x)[0]),
        "gru": (nn.GRU(3, 2, num_layers=2, bidirectional=True, batch_first=True),
                [torch.randn(2, 4, 3)], lambda m, x: m(x)[0]),
        "decoder_layer": (nn.TransformerDecoderLayer(4, 2, 6, batch_first=True),
                          [torch.randn(2, 3, 4), torch.randn(2, 5, 4)], lambda m, x, y: m(x, y)),
        "conv1d": (nn.Conv1d(2, 3, 3), [torch.randn(2, 2, 5)], lambda m, x: m(x)),
        "conv_transpose2d": (nn.ConvTranspose2d(2, 3, (2, 3)), [torch.randn(2, 2, 3, 4)],
                             lambda m, x: m(x)),
        "spectral_conv2d": (nn.utils.parametrizations.spectral_norm(nn.Conv2d(2, 3, (2, 3))),
                            [torch.randn(2, 2, 4, 5)], lambda m, x: m(x)),
    }
    outputs = {}
    for name, (module, inputs, call) in cases.items():
        randomize(module)
        if name == "batch_norm2d":  # running statistics of its own, from three batches
            for _ in range(3):
                module(torch.randn(4, 3, 2, 2) * 2 + 1)
        module.eval()
        save("state_" + name, module.state_dict())
        for i, x in enumerate(inputs):
            outputs[f"{name}.input.{i}"] = x
        outputs[f"{name}.output"] = call(module, *inputs)
    save("state_outputs", outputs)


if __name__ == "__main__":
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    attention()
    transformer_layers()
    torch.set_default_dtype(torch.float32)
    states()
