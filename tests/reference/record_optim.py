"""Records optimizers, schedules and weight averages of PyTorch over 20 steps.

usage: record_optim.py        (by hand; needs torch and safetensors)

optimizers: two parameters, [2, 3] and [2], walk along the same gradients in each case; the second
gets its first gradient in the third step. `start` [8] and `gradients` [20, 8] are both parameters
in a row, and so is each case, [20, 8]: where they are after each step. schedules: the factor of
the learning rate at each step, [20], and for reduce on plateau the metrics.
"""

import math

import torch
from torch import nn, optim

from record import save

STEPS, FIRST = 20, 6  # numbers of the first parameter


def split(row):
    return [row[:FIRST].reshape(2, 3).clone(), row[FIRST:].clone()]


def walk(start, gradients, make, schedule=None):
    parameters = [p.requires_grad_() for p in split(start)]
    optimizer = make(parameters)
    scheduler = schedule(optimizer) if schedule else None
    rows = []
    for step in range(STEPS):
        for i, (p, g) in enumerate(zip(parameters, split(gradients[step]))):
            p.grad = None if i == 1 and step < 2 else g
        optimizer.step()
        if scheduler:
            scheduler.step()
        rows.append(torch.cat([p.detach().flatten() for p in parameters]))
    return torch.stack(rows)


def noam(step, d_model=8, warmup=5):
    return d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)


def inverse_sqrt(step, warmup=5):
    return min(step / warmup, math.sqrt(warmup / step))


def warm_cosine(step, warmup=4, total=16, floor=0.1):
    if step < warmup:
        return step / warmup
    progress = min(1, (step - warmup) / (total - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2


def optimizers():
    cases = {
        "sgd": lambda p: optim.SGD(p, lr=0.1),
        "sgd_decay": lambda p: optim.SGD(p, lr=0.1, weight_decay=0.01),
        "sgd_momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        "sgd_dampening": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3,
                                             weight_decay=0.02),
        "sgd_nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.8, nesterov=True,
                                            weight_decay=0.02),
        "adam": lambda p: optim.Adam(p, lr=0.05),
        "adam_decay": lambda p: optim.Adam(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1),
        "adamw": lambda p: optim.AdamW(p, lr=0.05, weight_decay=0.1, eps=1e-6),
        "rmsprop": lambda p: optim.RMSprop(p),
        "rmsprop_decay": lambda p: optim.RMSprop(p, lr=0.02, alpha=0.9, eps=1e-3,
                                                 weight_decay=0.1),
        "rmsprop_momentum": lambda p: optim.RMSprop(p, lr=0.01, alpha=0.95, momentum=0.9),
        "rmsprop_centered": lambda p: optim.RMSprop(p, lr=0.01, alpha=0.95, centered=True),
        "rmsprop_all": lambda p: optim.RMSprop(p, lr=0.01, alpha=0.8, momentum=0.5, centered=True,
                                               weight_decay=0.05),
        "adagrad": lambda p: optim.Adagrad(p, lr=0.1),
        "adagrad_all": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, weight_decay=0.05,
                                               initial_accumulator_value=0.5, eps=1e-6),
        "groups": lambda p: optim.AdamW([{"params": p[:1], "lr": 0.05, "weight_decay": 0.1},
                                         {"params": p[1:], "lr": 0.02, "weight_decay": 0.0}]),
    }
    start, gradients = torch.randn(8), torch.randn(STEPS, 8)
    tensors = {"start": start, "gradients": gradients}
    for name, make in cases.items():
        tensors[name] = walk(start, gradients, make)
    tensors["groups_noam"] = walk(
        start, gradients, cases["groups"],
        lambda o: optim.lr_scheduler.LambdaLR(o, lambda epoch: noam(epoch + 1)))
    save("optimizers", tensors)


def factors(make, metrics=None):
    base = 0.3
    optimizer = optim.SGD([torch.zeros(1, requires_grad=True)], lr=base)
    scheduler = make(optimizer)
    found = []
    for step in range(STEPS):
        if metrics is not None:  # what it makes of each metric
            scheduler.step(metrics[step].item())
        found.append(optimizer.param_groups[0]["lr"] / base)
        if metrics is None:
            optimizer.step()
            scheduler.step()
    return torch.tensor(found)


def schedules():
    schedulers = optim.lr_scheduler
    tensors = {
        "linear_warmup": factors(lambda o: schedulers.LinearLR(o, 1 / 6, 1, total_iters=5)),
        "cosine": factors(lambda o: schedulers.CosineAnnealingLR(o, 19, eta_min=0.03)),
        "step_decay": factors(lambda o: schedulers.StepLR(o, 4, gamma=0.5)),
        "noam": factors(lambda o: schedulers.LambdaLR(o, lambda e: noam(e + 1))),
        "inverse_sqrt": factors(lambda o: schedulers.LambdaLR(o, lambda e: inverse_sqrt(e + 1))),
        "warm_cosine": factors(lambda o: schedulers.LambdaLR(o, lambda e: warm_cosine(e + 1))),
    }
    falling = [3, 2, 1.5, 1.5, 1.6, 1.4, 1.39999, 1.39995, 1.5, 1.6, 1.2, 1.3, 1.3, 1.3, 1.3, 1.3,
               1.3, 1.3, 1.3, 1.3]
    metrics = torch.tensor(falling)
    tensors["metrics"] = metrics
    plateau = schedulers.ReduceLROnPlateau
    tensors["plateau"] = factors(lambda o: plateau(o, factor=0.5, patience=1, eps=0), metrics)
    tensors["plateau_floor"] = factors(
        lambda o: plateau(o, factor=0.1, patience=0, threshold=1e-2, min_lr=0.3 * 0.02, eps=0),
        metrics)
    tensors["plateau_cooldown"] = factors(
        lambda o: plateau(o, factor=0.5, patience=1, cooldown=3, threshold=0.05,
                          threshold_mode="abs", eps=0), metrics)
    tensors["plateau_higher"] = factors(
        lambda o: plateau(o, mode="max", factor=0.5, patience=2, eps=0), 5 - metrics)
    save("schedules", tensors)


def averages():
    weights = torch.randn(STEPS, 8)
    parameter = nn.Parameter(weights[0].clone())
    holder = nn.ParameterList([parameter])
    averaged = optim.swa_utils.AveragedModel(
        holder, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9))
    rows = []
    for step in range(STEPS):
        with torch.no_grad():
            parameter.copy_(weights[step])
        averaged.update_parameters(holder)  # the first one copies
        rows.append(averaged.module[0].detach().clone())
    save("averages", {"weights": weights, "averages": torch.stack(rows)})


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    optimizers()
    schedules()
    averages()
