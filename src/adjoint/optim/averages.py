"""Averaged weights: a copy of a model whose parameters are the mean, or a decaying mean, of those that training passed."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint.nn import Module
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.transforms.evaluate import evaluate
from adjoint.transforms.modes import no_grad

from .optimizer import Optimizer
from .policies import of_groups
from .rates import rate_of
from .schedules import LRScheduler

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Average = Callable[[Tensor, Tensor, int], Tensor]
Averages = Callable[[list[Tensor], list[Tensor], int], Any]


def equal_average(average: Tensor, value: Tensor, count: int) -> Tensor:
    """The mean of `count + 1` values, from that of the first `count` and the last."""
    mean: Tensor = average + (value - average) / (count + 1)
    return mean


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """An exponential moving average: `decay * average + (1 - decay) * value`. Raises ValueError for a decay outside [0, 1]."""
    if not 0 <= decay <= 1:
        raise ValueError(f"get_ema_avg_fn: the decay must be from 0 to 1, not {decay}")

    def average(average: Tensor, value: Tensor, count: int) -> Tensor:
        mean: Tensor = decay * average + (1 - decay) * value
        return mean

    return average


def get_swa_avg_fn() -> Average:
    """The equal average, which `AveragedModel` takes unless another is given.

    >>> import adjoint as ad
    >>> ad.optim.get_swa_avg_fn()(ad.tensor(1.0), ad.tensor(4.0), 2)
    Tensor(2.)
    """
    return equal_average


def _of_each(one: Average) -> Averages:
    """An average of all parameters at once: the tensors of the first list get new values."""

    def average(averages: list[Tensor], values: list[Tensor], count: int) -> None:
        for mean, value in zip(averages, values, strict=True):
            mean.data = one(mean.detach(), value, count)

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """`get_ema_avg_fn` for all parameters at once, for `AveragedModel(multi_avg_fn=)`: it changes a list of averages.

    >>> import adjoint as ad
    >>> average = ad.tensor(1.0)
    >>> ad.optim.get_ema_multi_avg_fn(0.5)([average], [ad.tensor(4.0)], 2)
    >>> average
    Tensor(2.5)
    """
    return _of_each(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Averages:
    """The equal average of all parameters at once, for `AveragedModel(multi_avg_fn=)`: it changes a list of averages.

    >>> import adjoint as ad
    >>> average = ad.tensor(1.0)
    >>> ad.optim.get_swa_multi_avg_fn()([average], [ad.tensor(4.0)], 2)
    >>> average
    Tensor(2.)
    """
    return _of_each(equal_average)


class AveragedModel(Module):
    """A copy of `model` for averaged weights; `update_parameters(model)` after an optimizer's step takes it in.

    The first update copies; each further one is `avg_fn(average, value, count)`: the equal average of stochastic weight
    averaging (P. Izmailov and others, 2018, https://arxiv.org/abs/1803.05407) unless another is given, such as
    `get_ema_avg_fn(0.999)`. Buffers are copied, or averaged too with `use_buffers`. Calling it calls the copy, its
    attribute `module`. `multi_avg_fn(averages, values, count)` gets all of them at once, in lists, and gives the averages new
    values in place. PyTorch's class of that name has the same `state_dict`. Raises ValueError when both functions are given.

    >>> import adjoint as ad
    >>> model = ad.nn.Linear(1, 1)
    >>> averaged = ad.optim.AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     model.weight.data = [[value]]
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        avg_fn: Average | None = None,
        use_buffers: bool = False,
        multi_avg_fn: Averages | None = None,
    ) -> None:
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel takes avg_fn or multi_avg_fn, not both")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", asarray(np.array(0)))
        self.multi_avg_fn = multi_avg_fn or _of_each(avg_fn or equal_average)
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged copy computes."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take in the parameters of `model` as they are now."""
        count = int(self.n_averaged.item())
        pairs = list(zip(self.module.parameters(), model.parameters(), strict=True))
        buffers = list(zip(self.module.buffers(), model.buffers(), strict=True))
        averaged = [*pairs, *buffers] if self.use_buffers else pairs
        # Counters such as that of batch norm's batches are integers and have no average.
        mixed = [(average, value.detach()) for average, value in averaged if count and value.dtype.kind == "f"]
        if mixed:
            self.multi_avg_fn([average for average, _ in mixed], [value for _, value in mixed], count)
        for average, value in averaged:
            if not count or value.dtype.kind != "f":
                average.data = value.detach()
        if not self.use_buffers:
            for average, value in buffers:
                average.data = value.detach()
        self.n_averaged.data = np.array(count + 1)
        evaluate(*[average for average, _ in (*pairs, *buffers)])


@no_grad()
def update_bn(loader: Iterable[Any], model: Module) -> None:
    """Compute the running statistics of batch normalisation anew, as plain means over one pass through `loader`.

    Averaged weights need it: no batch has gone through the network that they make. A batch is the input, or a tuple that
    starts with it. Modules with `reset_running_stats` and `momentum` count; the model's mode is kept.
    """
    layers: list[Any] = [module for module in model.modules() if hasattr(module, "reset_running_stats")]
    if not layers:
        return
    momenta, training = [layer.momentum for layer in layers], model.training
    try:
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # a cumulative average
        model.train()
        for batch in loader:
            model(batch[0] if isinstance(batch, tuple | list) else batch)
            evaluate(*[buffer for layer in layers for buffer in layer.buffers()])
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        model.train(training)


class SWALR(LRScheduler):
    """From the rate that there is to `swa_lr` in `anneal_epochs` steps, along half a cosine or a line
    (`anneal_strategy="linear"`), then constant: the schedule while weights are averaged (P. Izmailov et al., 2018, https://arxiv.org/abs/1803.05407).

    It goes on from whatever rate another schedule has left. `swa_lr` is a number, or one for each group. Raises ValueError for
    other strategies and for a negative number of steps.

    >>> import adjoint as ad
    >>> optimizer = ad.optim.SGD([ad.variable(1.0)], lr=1.0)
    >>> schedule = ad.optim.SWALR(optimizer, 0.2, anneal_epochs=2, anneal_strategy="linear")
    >>> schedule.step()
    >>> round(optimizer.lr, 3)
    0.6
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"SWALR: anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}")
        if anneal_epochs < 0:
            raise ValueError(f"SWALR: anneal_epochs must not be negative; it is {anneal_epochs}")
        self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
        self.swa_lrs = of_groups("swa_lr", optimizer, swa_lr)
        super().__init__(optimizer)

    def _done(self, step: int) -> float:
        """Which part of the way has been gone."""
        if not self.anneal_epochs:
            return 1.0
        part = min(step, self.anneal_epochs) / self.anneal_epochs
        return part if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def rates(self, step: int) -> list[float]:
        """The rates that there are, a step nearer to `swa_lr`."""
        if not step and self.anneal_epochs:
            return [rate_of(group) for group in self.optimizer.param_groups]
        before, now = self._done(step - 1), self._done(step)
        left = 0.0 if before == 1 else (1 - now) / (1 - before)  # of the distance that there is
        now_at = zip(self.optimizer.param_groups, self.swa_lrs, strict=True)
        return [end + (rate_of(group) - end) * left for group, end in now_at]
