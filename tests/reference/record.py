"""Records what PyTorch computes, in float64, as small safetensors files in tests/data/.

usage: record.py        (by hand; needs torch and safetensors)

Layers: weights.NAME, inputs.N, upstream, output, and the gradients of upstream * output as
grads.weights.NAME and grads.inputs.N. Masks are stored in gradzoo's meaning: true = may attend.
"""

import os

import torch
from safetensors.torch import save_file
from torch import nn

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")


def save(name, tensors):
    os.makedirs(FOLDER, exist_ok=True)
    contents = {key: value.detach().contiguous().clone() for key, value in tensors.items()}
    save_file(contents, os.path.join(FOLDER, name + ".safetensors"),
              {"made with": "PyTorch " + torch.__version__})


def randomize(module):
    """Weights that no test can mistake for the initial ones, biases included."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)


def record(name, module, inputs, call, extra=()):
    """`call(module, *inputs)` and its gradients. `extra`: named tensors the test needs too."""
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    output = call(module, *inputs)
    upstream = torch.randn_like(output)
    output.backward(upstream)
    tensors = {"output": output, "upstream": upstream, **dict(extra)}
    for i, x in enumerate(inputs):
        tensors[f"inputs.{i}"] = x
        if x.is_floating_point():
            tensors[f"grads.inputs.{i}"] = x.grad
    for key, parameter in module.named_parameters():
        tensors[f"weights.{key}"] = parameter
        tensors[f"grads.weights.{key}"] = parameter.grad
    save(name, tensors)


def layers():
    linear = nn.Linear(3, 4)
    randomize(linear)
    record("linear", linear, [torch.randn(2, 5, 3)], lambda m, x: m(x))

    embedding = nn.Embedding(7, 3, padding_idx=2)
    ids = torch.tensor([[1, 2, 1, 6], [0, 2, 5, 1]])
    record("embedding", embedding, [ids], lambda m, x: m(x))

    norm = nn.LayerNorm(5)
    randomize(norm)
    record("layer_norm", norm, [torch.randn(2, 3, 5) * 3 + 1], lambda m, x: m(x))


def attention():
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    randomize(module)
    record("attention_self", module, [torch.randn(2, 5, 8)],
           lambda m, x: m(x, x, x, attn_mask=~causal, need_weights=False)[0],
           {"mask": causal})

    visible = torch.arange(6) < torch.tensor([[6], [3]])
    module = nn.MultiheadAttention(8, 4, bias=False, batch_first=True)
    randomize(module)
    record("attention_cross", module, [torch.randn(2, 4, 8), torch.randn(2, 6, 8)],
           lambda m, x, y: m(x, y, y, key_padding_mask=~visible, need_weights=False)[0],
           {"mask": visible[:, None, None, :]})


def transformer_layers():
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    visible = torch.arange(5) < torch.tensor([[5], [2], [4]])
    for norm_first in [False, True]:
        kind = "pre" if norm_first else "post"
        options = {"dim_feedforward": 6, "dropout": 0.0, "batch_first": True,
                   "norm_first": norm_first}
        encoder = nn.TransformerEncoderLayer(8, 2, **options)
        randomize(encoder)
        record(f"encoder_layer_{kind}", encoder, [torch.randn(3, 5, 8)],
               lambda m, x: m(x, src_key_padding_mask=~visible),
               {"mask": visible[:, None, None, :]})
        decoder = nn.TransformerDecoderLayer(8, 2, **options)
        randomize(decoder)
        record(f"decoder_layer_{kind}", decoder, [torch.randn(3, 4, 8), torch.randn(3, 5, 8)],
               lambda m, x, y: m(x, y, tgt_mask=~causal, memory_key_padding_mask=~visible),
               {"mask": causal, "memory_mask": visible[:, None, None, :]})


def functions():
    logits = torch.randn(2, 3, 5, requires_grad=True)
    targets = torch.tensor([[0, 4, -7], [2, -7, 1]])
    tensors = {"logits": logits, "targets": targets}
    for smoothing in [0.0, 0.2]:
        for reduction in ["mean", "sum", "none"]:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(),
                                               ignore_index=-7, label_smoothing=smoothing,
                                               reduction=reduction)
            upstream = torch.randn_like(loss)
            key = f"cross_entropy.{reduction}.{'smooth' if smoothing else 'plain'}"
            tensors[key] = loss
            tensors[key + ".upstream"] = upstream
            grad, = torch.autograd.grad(loss, logits, upstream)
            tensors[key + ".grad"] = grad.flatten(0, 1)
    x = torch.linspace(-6, 6, 49, requires_grad=True)
    tensors["x"] = x
    upstream = torch.randn_like(x)
    tensors["x.upstream"] = upstream
    for form in ["none", "tanh"]:
        y = nn.functional.gelu(x, approximate=form)
        tensors[f"gelu.{form}"] = y
        tensors[f"gelu.{form}.grad"], = torch.autograd.grad(y, x, upstream)
    save("functions", tensors)


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    layers()
    attention()
    transformer_layers()
    functions()
