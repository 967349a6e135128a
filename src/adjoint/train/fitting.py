"""The training loop for those who don't want to write it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any

import numpy as np

from adjoint.api.modes import no_grad
from adjoint.nn import Module
from adjoint.optim import Optimizer
from adjoint.tensors import Tensor
from adjoint.tensors.functions import tensor

from .interrupt import StopOnInterrupt
from .progress import Progress, make_progress

__all__ = ["Epoch", "History", "accuracy", "fit", "predict"]


@dataclasses.dataclass
class Epoch:
    """What came out of an epoch: its number from 1, its mean loss, what `validate` measured, its seconds."""

    number: int
    loss: float
    metrics: dict[str, float]
    seconds: float


@dataclasses.dataclass
class History:
    """What `fit` returns: the loss of every step, the epochs, and whether Ctrl-C ended it early."""

    losses: list[float] = dataclasses.field(default_factory=list)
    epochs: list[Epoch] = dataclasses.field(default_factory=list)
    interrupted: bool = False

    @property
    def seconds(self) -> float:
        """How long the epochs took together."""
        return sum(epoch.seconds for epoch in self.epochs)


def fit(
    model: Module,
    loss: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    data: Iterable[tuple[Any, Any]],
    *,
    epochs: int = 1,
    validate: Callable[[Module], Mapping[str, float]] | None = None,
    schedule: Callable[[float], float] | None = None,
    progress: bool | Progress | None = None,
) -> History:
    """Train a model: for each batch `(x, y)` of `data`, one step down the gradient of `loss(model(x), y)`.

    `data` is iterated once for each epoch, so a `DataLoader` fits. `validate(model)` measures after each epoch, in
    evaluation mode and without recording; it returns numbers by name, and those whose names end in "accuracy" are
    shown as percentages. `schedule(done)` gives the factor on the optimizer's learning rates when that part of all
    steps, from 0 to 1, is done; `data` must have a length then. `progress` is True for a bar, False for a line for each
    epoch, None for what suits the output, or an object that shows it in its own way.

    Ctrl-C ends training after the step at hand; a second one interrupts at once. Raises FloatingPointError when the
    loss is not finite, ValueError when the loss is no single number or `data` has no batches.
    """
    steps = len(data) if isinstance(data, Sized) else None
    if schedule is not None and steps is None:
        raise ValueError("fit: a schedule needs data that has a length")
    rates = [group["lr"] for group in optimizer.param_groups]
    shown = make_progress(progress) if progress is None or isinstance(progress, bool) else progress
    history = History()
    try:
        with StopOnInterrupt() as stop:
            for number in range(1, epochs + 1):
                started = time.perf_counter()
                first = len(history.losses)
                model.train()
                shown.start(number, epochs, steps)
                for batch in data:
                    if schedule is not None and steps:
                        factor = schedule(min(len(history.losses) / (epochs * steps), 1.0))
                        for group, rate in zip(optimizer.param_groups, rates, strict=True):
                            group["lr"] = factor * rate
                    history.losses.append(_step(model, loss, optimizer, batch, number, len(history.losses) - first + 1))
                    shown.advance(history.losses[-1])
                    if stop.requested:
                        break
                if len(history.losses) == first:
                    raise ValueError("fit: the data has no batches (an iterator serves for one epoch only)")
                mean = float(np.mean(history.losses[first:]))
                metrics = dict(_measure(model, validate))
                epoch = Epoch(number, mean, metrics, time.perf_counter() - started)
                history.epochs.append(epoch)
                shown.line(describe(epoch, epochs))
                if stop.requested:
                    history.interrupted = True
                    break
    finally:
        shown.close()
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
    return history


def _step(
    model: Module, loss: Callable[[Any, Any], Tensor], optimizer: Optimizer, batch: Any, epoch: int, step: int
) -> float:
    inputs, targets = batch
    value = loss(model(inputs), targets)
    if value.shape != ():
        raise ValueError(f"fit: the loss must be a single number; its shape is {value.shape}")
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
    number = float(value.item())  # read after the step, whose one evaluation has computed it on the way
    if not math.isfinite(number):
        raise FloatingPointError(
            f"the loss became {number} at step {step} of epoch {epoch}. A smaller learning rate often helps; "
            "so does looking for NaN in the data"
        )
    return number


def _measure(model: Module, validate: Callable[[Module], Mapping[str, float]] | None) -> Mapping[str, float]:
    if validate is None:
        return {}
    model.eval()
    try:
        with no_grad():
            return validate(model)
    finally:
        model.train()


def describe(epoch: Epoch, epochs: int) -> str:
    """An epoch as a line of text: `epoch 3/8  loss 0.0812  test accuracy 97.3 %  2.1 s`."""
    parts = [f"epoch {epoch.number:>{len(str(epochs))}}/{epochs}", f"loss {short(epoch.loss)}"]
    for name, value in epoch.metrics.items():
        parts.append(f"{name} {percent(value)}" if name.endswith("accuracy") else f"{name} {value:.4g}")
    return "  ".join([*parts, f"{epoch.seconds:.1f} s"])


def short(loss: float) -> str:
    """A loss as text: four decimals, or two digits where these would all be zero."""
    return f"{loss:.4f}" if abs(loss) >= 1e-3 or loss == 0 else f"{loss:.1e}"


def percent(share: float) -> str:
    """A share as text, rounded down so that no 97.49 % passes for 97.5 %."""
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f} %"


def predict(model: Module, inputs: Any, batch_size: int = 1000) -> np.ndarray:
    """The model's outputs (N, ...) for N inputs, computed in batches in evaluation mode and without recording."""
    training = model.training
    model.eval()
    try:
        with no_grad():
            starts = range(0, len(inputs), batch_size)
            return np.concatenate([model(tensor(inputs[start : start + batch_size])).numpy() for start in starts])
    finally:
        model.train(training)


def accuracy(model: Module, inputs: Any, labels: Any, batch_size: int = 1000) -> float:
    """The share of N inputs for which the largest of the model's outputs (N, C) is at the label's place."""
    return float((predict(model, inputs, batch_size).argmax(axis=1) == np.asarray(labels)).mean())
